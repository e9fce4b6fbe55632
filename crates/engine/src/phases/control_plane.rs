//! Control plane: whether a machine can become a further control plane node of the cluster that it has discovered, before
//! anything is started: its certificates, the files that static pods mount, and the members of etcd.
use super::{
    control_plane_credentials::{administrator, etcd_client},
    control_plane_mounts,
    control_plane_traces::ControlPlaneTraces,
    etcd_voter::VoterRisk,
    join::{self, certificate_key},
    worker::{BOOTSTRAP_KUBECONFIG, KUBELET_KUBECONFIG, authorities},
};
use crate::{
    ControlPlaneFacts, EtcdAccess, EtcdPod, Facts, Fault, Look, MemberFacts, MembersWait, Patience, PlanError, Planned,
    Problem, Remark, TurnId, Unanswered,
    acts::{ADMIN, kubeadm_join},
    certificate_files::{self, Existing, Placement},
    etcd_data,
    look::{CertificateCopy, Stage},
    turns::{Addition, Place, Subject},
};
use ::discovery::certificate::CaBundle;
use certs::{CertificateSet, FileName, FileSet, check_download};
use documents::{
    AnyDocument, Secret,
    v1alpha1::{self, JoinControlPlane},
};
use etcd::Membership;
use host::Progress;
use jiff::Timestamp;
use kubeadm::hub::ClusterConfiguration;
use outcome::AddedTurn;
use std::{
    collections::BTreeSet,
    net::IpAddr,
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

/// How long the API server may take for one question.
const ASKED: Duration = Duration::from_secs(20);
/// The copy of the certificates, and how long it may take to come.
const SECRET: &str = "/api/v1/namespaces/kube-system/secrets/kubeadm-certs";
const COPIED: Duration = Duration::from_secs(120);
/// How long etcd may take to accept a member.
const ACCEPTED: Duration = Duration::from_secs(60);

pub(crate) const ADDITION: Addition = Addition {
    turn: AddedTurn::ControlPlane,
    summary: "checks what a further control plane node needs: certificates, files that static pods mount, healthy etcd members",
    place: Place::BeforeNode,
    applies: |node| {
        node.is_some_and(|node| matches!(&node.body, AnyDocument::Join(wanted) if wanted.control_plane.is_some()))
    },
    plan,
};

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let Some(AnyDocument::Join(wanted)) = subject.node.map(|node| &node.body) else { return Ok(Planned::default()) };
    let Some(control_plane) = &wanted.control_plane else { return Ok(Planned::default()) };
    if let Some(commands) = look.waits_for_acts() {
        return Ok(Planned { known_after: Some(commands), ..Planned::default() });
    }
    let traces = ControlPlaneTraces::on(look.host)?;
    let peer_url = peer_url(control_plane, look)?;
    if traces.worker.credentials().is_some() {
        if traces.are_of_worker() {
            return Err(PlanError::unfit(
                "this machine is a worker of the cluster, and kubeadm cannot make a worker a control plane node: run \
                 machineadm reset, then run machineadm again"
                    .to_owned(),
            ));
        }
        let patience = Patience { within: look.patience, while_true: &|| true };
        // A machine that boots may be asked before its API server answers: then its effect is not known either.
        let found = ControlPlaneFacts::of_machine(look.host, look.cluster, &peer_url, &patience)?.unwrap_or(None);
        let control_plane = found.map(Rc::new);
        return Ok(Planned { facts: Facts { control_plane, ..Facts::default() }, ..Planned::default() });
    }
    if look.stage == Stage::Preview {
        return Ok(Planned { known_after: Some(TurnId::from(AddedTurn::Discovery)), ..Planned::default() });
    }
    let (found, remarks) = Joining { wanted, control_plane, peer_url, traces, look }.check()?;
    Ok(Planned {
        facts: Facts { control_plane: Some(Rc::new(found)), ..Facts::default() },
        remarks,
        ..Planned::default()
    })
}

/// Where other members of etcd reach this machine.
pub(super) fn peer_url(wanted: &JoinControlPlane, look: &Look<'_>) -> Result<String, PlanError> {
    let address = advertise_address(wanted, look)?;
    Ok(match address {
        IpAddr::V4(address) => format!("https://{address}:2380"),
        IpAddr::V6(address) => format!("https://[{address}]:2380"),
    })
}

/// The address of this machine's API server and etcd. It is always given to kubeadm, so that both know the same.
pub(super) fn advertise_address(wanted: &JoinControlPlane, look: &Look<'_>) -> Result<IpAddr, PlanError> {
    let address = wanted.advertise_address.map_or_else(|| look.host.address_towards(None), |given| Ok(Some(given)))?;
    address.ok_or_else(|| {
        let text =
            "this machine has no default route, by which its address is found: set controlPlane.advertiseAddress";
        PlanError::unfit(text.to_owned())
    })
}

/// A machine that shall become a control plane node, and its cluster.
struct Joining<'a> {
    wanted: &'a v1alpha1::Join,
    control_plane: &'a JoinControlPlane,
    peer_url: String,
    traces: ControlPlaneTraces,
    look: &'a Look<'a>,
}

impl Joining<'_> {
    /// Everything that is in the way, at once; nothing is changed.
    fn check(self) -> Result<(ControlPlaneFacts, Vec<Remark>), PlanError> {
        let look = self.look;
        let unknown = || PlanError::StillUnknown(AddedTurn::Discovery.name().to_owned());
        let cluster = look.facts.cluster.as_ref().ok_or_else(unknown)?;
        let token = self.wanted.node_token().ok_or_else(unknown)?;
        let kubeconfig = kubeadm_join::bootstrap_kubeconfig(cluster, &join::token(token, look)?);
        let configuration = self.configuration(&kubeconfig)?;
        let (directory, files) = self.layout(&kubeconfig)?;
        let mut problems = missing_endpoint(&configuration);
        problems.extend(control_plane_mounts::problems(&configuration, look)?.into_iter().map(Problem::from));
        let set = match self.certificates(&kubeconfig, &directory, &files) {
            Ok(set) => set,
            Err(PlanError::Unfit(found)) => return Err(PlanError::Unfit([problems, found].concat())),
            Err(other) => return Err(other),
        };
        self.check_same_cluster(&set)?;
        let placement = Placement::of(look.host, &set, &directory, Existing::Refused)?;
        // What our own interrupted join has left is undone first.
        if self.progress()? == Progress::New {
            let obstacles = placement.err().into_iter().flatten().map(|obstacle| obstacle.to_string());
            problems.extend(Problem::each_of(&Fault::Certificates, obstacles));
        }
        let administrator =
            administrator(&set, cluster, &configuration, look.cluster).map_err(unfit(Fault::Certificates))?;
        let mut facts = ControlPlaneFacts { directory, files, administrator, member: None };
        let mut remarks = Vec::new();
        if facts.is_stacked() {
            let credentials = etcd_client(&set, look.cluster).map_err(unfit(Fault::Certificates))?;
            let kubeconfig = Some(facts.administrator.clone());
            let access = EtcdAccess { kubeconfig, endpoints: Vec::new(), credentials };
            let (member, membership, found) = self.member(access, &configuration)?;
            problems.extend(found);
            match VoterRisk::of(look.facts, &configuration, &membership, &member.peer_url) {
                VoterRisk::None => {}
                VoterRisk::Refused(text) => problems.push(Problem::of(Fault::ClusterSettings, text)),
                VoterRisk::Accepted(remark) => remarks.push(remark),
            }
            facts.member = Some(member);
        }
        if problems.is_empty() { Ok((facts, remarks)) } else { Err(PlanError::Unfit(problems)) }
    }

    /// A join that was started in another cluster may have an etcd member there. The members of this cluster tell nothing of
    /// it: the undo would take its data for nobody's.
    fn check_same_cluster(&self, set: &CertificateSet) -> Result<(), PlanError> {
        if self.progress()? == Progress::New {
            return Ok(());
        }
        let ca = set.files().iter().find(|(file, _)| file.name == FileName::CaCertificate);
        let Some(discovered) = ca.and_then(|(_, content)| CaBundle::read(content.expose().clone()).ok()) else {
            return Ok(());
        };
        for path in [ADMIN, BOOTSTRAP_KUBECONFIG, KUBELET_KUBECONFIG] {
            let started = self.look.host.file(path)?.and_then(|file| authorities(file.contents.expose()));
            if started.is_some_and(|started| keys(&started).is_disjoint(&keys(&discovered))) {
                return Err(PlanError::Abandoned(format!(
                    "kubeadm join of a control plane node of another cluster was started and did not finish: the CA \
                     certificates in {path} are not those of the discovered cluster; run \"machineadm reset\", then run \
                     machineadm again"
                )));
            }
        }
        Ok(())
    }

    fn progress(&self) -> Result<Progress, PlanError> {
        Ok(match self.look.host.progress(kubeadm_join::ID)? {
            Progress::Ended => Progress::New,
            other => other,
        })
    }

    fn configuration(&self, kubeconfig: &Secret<Vec<u8>>) -> Result<ClusterConfiguration, PlanError> {
        let asked = self.look.cluster.configuration(kubeconfig.expose(), &self.patience());
        let found = asked.map_err(|Unanswered(why)| {
            let text = format!("the configuration of the cluster (kubeadm-config) cannot be read: {why}");
            PlanError::unfit(Problem::of(Fault::ApiServer, text))
        })?;
        found.map(|configuration| *configuration).ok_or_else(no_kubeadm)
    }

    fn layout(&self, kubeconfig: &Secret<Vec<u8>>) -> Result<(PathBuf, FileSet), PlanError> {
        let asked = self.look.cluster.certs_layout(kubeconfig.expose(), &self.patience());
        asked.map_err(unfit(Fault::ApiServer))?.ok_or_else(no_kubeadm)
    }

    fn patience(&self) -> Patience<'static> {
        Patience { within: ASKED.min(self.look.patience), while_true: &|| true }
    }

    /// The certificates of the cluster: those of the copy, or those of the machine if they are whole and there is no copy.
    /// They are only read here.
    fn certificates(
        &self,
        kubeconfig: &Secret<Vec<u8>>,
        directory: &Path,
        files: &FileSet,
    ) -> Result<CertificateSet, PlanError> {
        let look = self.look;
        let roots = look.facts.cluster.as_ref().map(|cluster| cluster.roots().clone()).unwrap_or_default();
        let found = certificate_files::found(look.host, files, directory);
        let own = check_download(files, found, &roots, Timestamp::now());
        let Some(key) = certificate_key(self.control_plane, look)? else {
            let advice =
                "set controlPlane.certificateKey, or copy the certificates of a control plane node to this machine";
            let directory = objects::one_line(&directory.to_string_lossy());
            return own.map_err(|problems| {
                let texts = problems.iter().map(|problem| format!("{directory}/{problem}: {advice}"));
                PlanError::Unfit(Problem::each_of(&Fault::Certificates, texts))
            });
        };
        let download = || {
            let copy = CertificateCopy { key: &key, files, directory };
            look.cluster.download_certs(kubeconfig.expose(), &copy, &roots)
        };
        match own {
            // A key of another cluster with the same CA fits as well, such as that of service accounts. Once the cluster has
            // deleted the copy there is nothing to compare with.
            Ok(own) if self.progress()? == Progress::New => Ok(download().unwrap_or(own)),
            Ok(own) => Ok(own),
            Err(_) => {
                // The first control plane node uploads them last, and this machine may have booted with it. What is missing
                // then is reported by the download.
                let within = COPIED.min(self.wanted.timeout);
                let _ = look.cluster.wait_for_object(kubeconfig.expose(), SECRET, within);
                Ok(download()?)
            }
        }
    }

    /// This machine in etcd, and what keeps it from becoming a member.
    fn member(
        &self,
        access: EtcdAccess,
        configuration: &ClusterConfiguration,
    ) -> Result<(MemberFacts, Membership, Vec<Problem>), PlanError> {
        let within = self.wanted.timeouts.etcd.unwrap_or(ACCEPTED);
        let server = self.server(configuration)?;
        let wait = MembersWait { own_peer_url: &server.peer_url, within };
        let membership = self.look.cluster.settled_members(&access, &wait).map_err(|Unanswered(why)| {
            let text =
                format!("etcd does not answer: {why}; check the control plane nodes: machineadm control-plane list");
            PlanError::unfit(Problem::of(Fault::Etcd, text))
        })?;
        let obstacles = membership.joining(&server.peer_url);
        let mut problems = Problem::each_of(&Fault::Etcd, obstacles.iter().map(ToString::to_string));
        let facts = MemberFacts::new(access, server, &membership);
        if let Some(own) = &facts.own
            && self.progress()? == Progress::New
            && !self.traces.are_any()
        {
            problems.push(Problem::of(Fault::Etcd, format!(
                "etcd has a member {} ({}) at the address of this machine, which has no data of it; if this machine \
                 replaces a lost one, run on a control plane node: machineadm control-plane remove {}",
                own.title(),
                own.id,
                own.title()
            )));
        }
        Ok((facts, membership, problems))
    }

    /// The etcd server of this machine: the one that an interrupted join has set up, whatever address the machine has by
    /// now, else the one that kubeadm will set up.
    fn server(&self, configuration: &ClusterConfiguration) -> Result<EtcdPod, PlanError> {
        if let Some(pod) = EtcdPod::on(self.look.host)? {
            return Ok(pod);
        }
        let data_directory = etcd_data::configured(configuration.etcd.local.as_ref());
        Ok(EtcdPod { peer_url: self.peer_url.clone(), client_urls: Vec::new(), data_directory })
    }
}

/// A CA certificate that was issued anew has the same key.
fn keys(bundle: &CaBundle) -> BTreeSet<&[u8]> {
    bundle.certificates().iter().map(|certificate| certificate.public_key_info.as_slice()).collect()
}

fn no_kubeadm() -> PlanError {
    PlanError::unfit(Problem::of(
        Fault::ClusterSettings,
        "the cluster has no ConfigMap kube-system/kubeadm-config: kubeadm did not create it, and cannot join a control \
         plane node to it",
    ))
}

fn unfit(fault: Fault) -> impl FnOnce(Unanswered) -> PlanError {
    |Unanswered(why)| PlanError::unfit(Problem::of(fault, why))
}

/// Without an address that stays, the certificates of further control plane nodes would fit the first one only.
fn missing_endpoint(configuration: &ClusterConfiguration) -> Vec<Problem> {
    let endpoint = configuration.control_plane_endpoint.as_deref().unwrap_or_default();
    let text = "the cluster has no controlPlaneEndpoint, without which kubeadm joins no further control plane node: set it in \
                kubeadm-config (machineadm config edit-map), with an address that all machines reach";
    endpoint.is_empty().then(|| Problem::of(Fault::ClusterSettings, text)).into_iter().collect()
}
