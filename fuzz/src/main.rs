//! `cargo run --release -p fuzz -- [--seconds N] [--seed N] [TARGET…]`: runs targets longer than CI does.
//! `cargo run -p fuzz -- TARGET --input FILE`: reads one input again.
use fuzz::{Failure, Limit, TARGETS, Target, replay, run};
use std::{fs, process::ExitCode, time::Duration};

const USAGE: &str = "usage: fuzz [--seconds N] [--seed N] [--input FILE] [TARGET…]";

#[derive(Default)]
struct Asked {
    seconds: Option<u64>,
    seed: u64,
    input: Option<String>,
    names: Vec<String>,
}

fn main() -> ExitCode {
    match asked().and_then(|asked| go(&asked)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn asked() -> Result<Asked, String> {
    let mut asked = Asked { seed: u64::from(std::process::id()), ..Asked::default() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(USAGE);
        let number = |text: String| text.parse::<u64>().map_err(|_| USAGE);
        match word.as_str() {
            "--seconds" => asked.seconds = Some(number(value()?)?),
            "--seed" => asked.seed = number(value()?)?,
            "--input" => asked.input = Some(value()?),
            name if TARGETS.iter().any(|target| target.name == name) => asked.names.push(word),
            _ => {
                let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
                return Err(format!("{USAGE}\ntargets: {}", names.join(", ")));
            }
        }
    }
    Ok(asked)
}

fn go(asked: &Asked) -> Result<(), String> {
    let wanted = |target: &&Target| asked.names.is_empty() || asked.names.iter().any(|name| name == target.name);
    for target in TARGETS.iter().filter(wanted) {
        if let Some(file) = &asked.input {
            let input = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
            replay(target, &input).map_err(|failure| format!("{}: {}", target.name, failure.message))?;
            println!("{}: holds", target.name);
            continue;
        }
        let time = Duration::from_secs(asked.seconds.unwrap_or(600));
        println!("{}: {} s with --seed {}", target.name, time.as_secs(), asked.seed);
        let done = run(target, Limit::Time(time), asked.seed).map_err(|failure| kept(target, &failure))?;
        println!("{}: {} inputs, {} different things seen", target.name, done.inputs, done.seen);
    }
    Ok(())
}

fn kept(target: &Target, Failure { input, message }: &Failure) -> String {
    let file = format!("{}.failed", target.name);
    match fs::write(&file, input) {
        Ok(()) => format!("{}: {message}\nagain: fuzz {} --input {file}", target.name, target.name),
        Err(error) => format!("{}: {message}\nthe input could not be kept in {file}: {error}", target.name),
    }
}
