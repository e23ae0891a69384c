//! `necrodome judge`: the judge's desk for a party of Infection.

mod balance;
mod live;
mod new;
mod run;
mod screen;
mod simulate;
mod watch;
mod words;

use crate::error::Error;

/// Judge a party of Infection: draw the roles, keep the script, tell everybody what they may know
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    New(new::Args),
    Run(run::Args),
    Live(live::Args),
    Watch(watch::Args),
    Simulate(simulate::Args),
    Balance(balance::Args),
}

pub fn run(args: &Args) -> Result<(), Error> {
    match &args.command {
        Command::New(args) => new::run(args),
        Command::Run(args) => run::run(args),
        Command::Live(args) => live::run(args),
        Command::Watch(args) => watch::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Balance(args) => balance::run(args),
    }
}
