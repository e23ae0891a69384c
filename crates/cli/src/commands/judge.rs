//! `necrodome judge`: the judge's desk for a party of Infection.

mod balance;
mod convert;
mod live;
mod new;
mod run;
mod screen;
mod simulate;
mod watch;
mod words;

use crate::error::Error;

/// Judge a party of Infection: draw the roles, keep the script, tell players what they may know
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: JudgeCommand,
}

#[derive(clap::Subcommand)]
enum JudgeCommand {
    New(new::Args),
    Run(run::Args),
    Live(live::Args),
    Watch(watch::Args),
    Convert(convert::Args),
    Simulate(simulate::Args),
    Balance(balance::Args),
}

pub fn run(args: &Args) -> Result<(), Error> {
    match &args.command {
        JudgeCommand::New(args) => new::run(args),
        JudgeCommand::Run(args) => run::run(args),
        JudgeCommand::Live(args) => live::run(args),
        JudgeCommand::Watch(args) => watch::run(args),
        JudgeCommand::Convert(args) => convert::run(args),
        JudgeCommand::Simulate(args) => simulate::run(args),
        JudgeCommand::Balance(args) => balance::run(args),
    }
}
