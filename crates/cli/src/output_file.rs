//! The files that commands write. A path is claimed before the work begins, so that a typing mistake does not waste hours of play;
//! the file is written whole at the end.

use crate::{
    error::Error,
    paint::{harmless, say},
};
use necrodome_arena::own::{self, Why};
use std::{
    fs::{self, Metadata, OpenOptions, Permissions},
    io::{self, ErrorKind, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// A file that will be written.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    way: Way,
    force: bool,
    access: Access,
}

/// Writes the contents of a file.
type Fill<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A temporary file in the same folder replaces the path, so that it is written whole or not at all.
    Replace,
    /// The file is overwritten: it may be written to, but its folder may not.
    InPlace,
    /// A device or a pipe, where no existing contents can be lost.
    Stream,
}

/// Who may use a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The system's default.
    Usual,
    /// Only its owner.
    Secret,
    /// Everybody who may read it may also run it.
    Program,
}

impl OutputFile {
    /// Claims a path: it must be free unless `force` is given, and its folder must accept new files.
    pub fn claim(path: &Path, force: bool) -> Result<Self, Error> {
        let mut file = Self::free(path, force)?;
        file.check_folder()?;
        Ok(file)
    }

    /// Claims several paths. Once all of them are known to be free, missing folders are created.
    pub fn claim_all(paths: impl IntoIterator<Item = PathBuf>, force: bool) -> Result<Vec<Self>, Error> {
        let mut files =
            paths.into_iter().map(|path| Self::free(&path, force)).collect::<Result<Vec<_>, _>>()?;
        for file in &mut files {
            fs::create_dir_all(folder(&file.path)).map_err(|error| file.failed(error))?;
            file.check_folder()?;
        }
        Ok(files)
    }

    /// Sets who may use the file.
    pub fn with_access(self, access: Access) -> Self {
        OutputFile { access, ..self }
    }

    /// Writes the file, and reports it on standard error.
    pub fn write(&self, contents: impl AsRef<[u8]>) -> Result<(), Error> {
        self.fill(&mut |out| out.write_all(contents.as_ref()))
    }

    /// Writes one of many files without a report; the command reports all of them at once.
    pub fn write_silently(&self, contents: impl AsRef<[u8]>) -> Result<(), Error> {
        self.fill_silently(&mut |out| out.write_all(contents.as_ref()))
    }

    /// Writes the file piece by piece, for contents that may not fit in memory, and reports it on standard error.
    pub fn fill(&self, fill: Fill) -> Result<(), Error> {
        self.fill_silently(fill)?;
        say_written(&self.path.display().to_string());
        Ok(())
    }

    fn fill_silently(&self, fill: Fill) -> Result<(), Error> {
        let written = match self.way {
            Way::Replace => self.replace(fill),
            Way::InPlace => self.overwrite(fill),
            Way::Stream => self.stream(fill),
        };
        written.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => self.exists(),
            _ => self.failed(error),
        })
    }

    /// Checks that a path could become a file, judging by the path alone.
    fn free(path: &Path, force: bool) -> Result<Self, Error> {
        let mut file = OutputFile { path: path.to_owned(), way: Way::Replace, force, access: Access::Usual };
        let names_folder = path.as_os_str().is_empty() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => return Err(file.failed(ErrorKind::IsADirectory.into())),
            Ok(there) if is_stream(path, &there) => file.way = Way::Stream,
            Ok(_) if !force => return Err(file.exists()),
            Ok(_) => file.check_links()?,
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(file.failed(error)),
            Err(_) if names_folder => {
                return Err(file.failed(io::Error::other("expected the name of a file")));
            }
            // A link that leads nowhere.
            Err(_) if !force && path.is_symlink() => return Err(file.exists()),
            Err(_) => file.check_links()?,
        }
        Ok(file)
    }

    /// Refuses links that somebody may have planted, to make this program write where they lead. A file with other names is
    /// replaced, not written to.
    fn check_links(&self) -> Result<(), Error> {
        match own::check(&self.path) {
            Err(error) if error.why == Why::Link => Err(Error::failure(error.to_string()).hint(error.hint())),
            _ => Ok(()),
        }
    }

    /// Checks that the folder accepts new files. If it does not, an existing file may still be overwritten.
    fn check_folder(&mut self) -> Result<(), Error> {
        if self.way != Way::Replace {
            return Ok(());
        }
        check_is_there(folder(&self.path)).map_err(|error| self.failed(error))?;
        // A file without a name: a kill leaves nothing behind.
        let Err(error) = tempfile::tempfile_in(folder(&self.path)) else { return Ok(()) };
        if let Err(distrust) = own::check(&self.path) {
            return Err(Error::failure(distrust.to_string()).hint(distrust.hint()));
        }
        if own::open_in_place(&self.path).is_err() {
            return Err(self.failed(error.kind().into()));
        }
        self.way = Way::InPlace;
        Ok(())
    }

    /// Writes to a stream. The program's own streams are written where they are: opened again, they would begin at a different position.
    fn stream(&self, fill: Fill) -> io::Result<()> {
        match self.path.to_str() {
            Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => {
                let mut out = io::stdout().lock();
                fill(&mut out).and_then(|()| out.flush())
            }
            Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => fill(&mut io::stderr()),
            _ => fill(&mut OpenOptions::new().append(true).open(&self.path)?),
        }
    }

    fn replace(&self, fill: Fill) -> io::Result<()> {
        // A rename takes the place of a link, and does not follow it.
        let target = &self.path;
        // What takes the place of a file may be as private as that.
        let mode = if self.access == Access::Secret || target.exists() { 0o600 } else { 0o666 };
        check_is_there(folder(target))?;
        let mut file = tempfile::Builder::new()
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder(target))
            .map_err(|error| io::Error::from(error.kind()))?;
        fill(&mut file)?;
        if self.access != Access::Secret {
            let there = fs::metadata(target).or_else(|_| file.as_file().metadata())?;
            let mode = there.permissions().mode();
            let run = if self.access == Access::Program { (mode & 0o444) >> 2 } else { 0 };
            file.as_file().set_permissions(Permissions::from_mode(mode | run))?;
        }
        file.as_file().sync_all()?;
        if self.force {
            return file.persist(target).map(drop).map_err(|error| error.error);
        }
        // Somebody may have made one in the meantime.
        let Err(error) = file.persist_noclobber(target) else { return Ok(()) };
        if error.error.kind() == ErrorKind::AlreadyExists || target.exists() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        // Some file systems can only replace.
        error.file.persist(target).map(drop).map_err(|error| error.error)
    }

    fn overwrite(&self, fill: Fill) -> io::Result<()> {
        let mut file = own::open_in_place(&self.path)?;
        if self.access == Access::Secret {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        file.set_len(0)?;
        fill(&mut file)
    }

    fn exists(&self) -> Error {
        Error::exists(&self.path)
    }

    fn failed(&self, why: io::Error) -> Error {
        Error::unwritten(&self.path, &why)
    }
}

/// Returns the folder of a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn check_is_there(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::NotFound, format!("there is no folder {}", folder.display())))
}

/// Reports what was written, in the same words for all commands.
pub fn say_written(what: &str) {
    say(format_args!("wrote {}", harmless(what)));
}

/// Whether a path is written to rather than replaced. A process's own streams can lead to plain files.
fn is_stream(path: &Path, there: &Metadata) -> bool {
    let own = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];
    !there.is_file() || own.iter().any(|own| path.starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ExitKind;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_claim_alone_leaves_the_folder_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = OutputFile::claim(&folder.path().join("a"), false).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        file.write_silently("text").unwrap();
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a"], "no temporary file stays");
    }

    #[test]
    fn paths_that_cannot_become_a_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::write(&taken, "mine").unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        let long = "x".repeat(300);
        for force in [false, true] {
            for bad in ["", ".", "new/", "none/a", "taken/a", &long] {
                let path = if bad.is_empty() { PathBuf::new() } else { folder.path().join(bad) };
                let error = OutputFile::claim(&path, force).unwrap_err();
                assert_eq!(error.kind, ExitKind::Failure, "{bad:?}: {}", error.what);
            }
        }
        for there in ["taken", "link"] {
            let error = OutputFile::claim(&folder.path().join(there), false).unwrap_err();
            assert_eq!(error.kind, ExitKind::Exists, "{there}: {}", error.what);
        }
        assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    }

    #[test]
    fn what_comes_after_the_claim_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let file = OutputFile::claim(&path, false).unwrap();
        fs::write(&path, "another's").unwrap();
        assert_eq!(file.write_silently("mine").unwrap_err().kind, ExitKind::Exists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "another's");
        OutputFile::claim(&path, true).unwrap().write_silently("mine").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }

    #[test]
    fn a_link_is_not_followed_and_a_file_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link, dangling, twin] =
            ["a", "link", "dangling", "twin"].map(|name| folder.path().join(name));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &dangling).unwrap();
        for link in [&link, &dangling] {
            let refused = OutputFile::claim(link, true).unwrap_err();
            assert!(
                refused.what.contains("is a symbolic link") && !refused.hints.is_empty(),
                "{}",
                refused.what
            );
        }
        // A link that comes after the claim makes way.
        let late = folder.path().join("late");
        let file = OutputFile::claim(&late, true).unwrap();
        std::os::unix::fs::symlink(&path, &late).unwrap();
        file.write_silently("new").unwrap();
        assert!(!late.is_symlink() && !folder.path().join("elsewhere").exists());
        // So does another name of a file, which keeps what it holds.
        fs::hard_link(&path, &twin).unwrap();
        OutputFile::claim(&twin, true).unwrap().write_silently("new").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("old", 0o640));
        assert_eq!((fs::read_to_string(&twin).unwrap().as_str(), mode(&twin)), ("new", 0o640));
    }

    #[test]
    fn secrets_are_for_their_owner_and_programs_can_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, access) in
            [("usual", Access::Usual), ("secret", Access::Secret), ("program", Access::Program)]
        {
            OutputFile::claim(&path(name), false).unwrap().with_access(access).write_silently("").unwrap();
        }
        // As the system makes files here.
        fs::write(path("plain"), "").unwrap();
        assert_eq!(mode(&path("usual")), mode(&path("plain")));
        assert_eq!(mode(&path("secret")), 0o600);
        assert_eq!(mode(&path("program")), mode(&path("plain")) | (mode(&path("plain")) & 0o444) >> 2);
        // A file that everybody could read becomes a secret.
        OutputFile::claim(&path("plain"), true)
            .unwrap()
            .with_access(Access::Secret)
            .write_silently("")
            .unwrap();
        assert_eq!(mode(&path("plain")), 0o600);
    }

    #[test]
    fn missing_folders_are_made_once_all_files_are_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("taken"), "").unwrap();
        assert!(OutputFile::claim_all([path("new/a"), path("taken")], false).is_err());
        assert!(!path("new").exists());
        let files = OutputFile::claim_all([path("new/a"), path("new/b")], false).unwrap();
        assert_eq!(files.len(), 2);
        assert!(path("new").is_dir());
    }

    #[test]
    fn devices_are_written_to() {
        OutputFile::claim(Path::new("/dev/null"), false).unwrap().write_silently("text").unwrap();
        let full = OutputFile::claim(Path::new("/dev/full"), false).unwrap();
        assert_eq!(full.write_silently("text").unwrap_err().kind, ExitKind::Failure);
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
