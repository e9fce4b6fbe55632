//! `up`: a cluster to play with.
use std::time::Instant;
use testbed::kubeadm::{self, Part};
use testbed::{Bed, Error, Machine, Profile, Result};

/// How large the cluster is.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Machines with an API server and an etcd member.
    #[arg(long, default_value_t = 1)]
    control_planes: u8,
    /// Machines for pods.
    #[arg(long, default_value_t = 1)]
    workers: u8,
}

/// Makes the cluster and leaves it running.
pub(crate) fn up(options: &Options) -> Result<()> {
    let began = Instant::now();
    let say = |what: &str| println!("{:6.1} s  {what}", began.elapsed().as_secs_f64());
    let bed = Bed::new()?;
    let control_planes = (1..=options.control_planes).map(|number| (format!("cp{number}"), Part::ControlPlane));
    let workers = (1..=options.workers).map(|number| (format!("w{number}"), Part::Worker));
    let mut machines = Vec::new();
    let mut invitation = None;
    for (name, part) in control_planes.chain(workers) {
        let machine = bed.machine(&name, &Profile::node())?;
        machine.boot()?;
        say(&format!("{name} has booted"));
        match (&invitation, part) {
            (Some(invitation), part) => kubeadm::join(&machine, invitation, part)?,
            (None, Part::ControlPlane) => invitation = Some(kubeadm::init(&machine)?),
            (None, Part::Worker) => return Err(Error::Misused("a cluster needs a control plane".to_owned())),
        }
        say(&format!("{name} is part of the cluster"));
        machines.push(machine);
    }
    let names: Vec<&str> = machines.iter().map(Machine::name).collect();
    if let Some(first) = machines.first() {
        first.wait_for_nodes(&names)?;
        say("all nodes are Ready");
    }
    let enter: String = names.iter().map(|name| format!("  cargo run -p testbed -- enter {name}\n")).collect();
    println!("Bed {} is up. Enter its machines by\n{enter}Remove it by\n  cargo run -p testbed -- down", bed.id());
    bed.keep(machines)?;
    Ok(())
}
