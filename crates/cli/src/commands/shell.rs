//! `necrodome completions` and `necrodome man`: completions for shells and pages for `man`, made from the flags themselves.

use crate::{error::Error, output_file::say_written};
use clap_complete::Shell;
use std::{fs, io::Write, path::PathBuf};

/// Print the completions for a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome completions bash > ~/.local/share/bash-completion/completions/necrodome
  necrodome completions zsh > ~/.zfunc/_necrodome          with ~/.zfunc in $fpath
  necrodome completions fish > ~/.config/fish/completions/necrodome.fish")]
pub struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

/// Write the man pages of all commands
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome man --out ~/.local/share/man/man1
  man necrodome-tournament")]
pub struct ManArgs {
    /// The folder to write them to; created if it is missing. Older pages in it are replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub fn completions(args: &CompletionsArgs, mut command: clap::Command) -> Result<(), Error> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "necrodome", &mut text);
    Ok(std::io::stdout().write_all(&text)?)
}

pub fn man(args: &ManArgs, command: clap::Command) -> Result<(), Error> {
    let written = fs::create_dir_all(&args.out).and_then(|()| clap_mangen::generate_to(command, &args.out));
    written.map_err(|error| Error::unwritten(&args.out, &error))?;
    say_written(&format!("the man pages to {}", args.out.display()));
    Ok(())
}
