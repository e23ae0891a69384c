//! A bot's own namespaces: users, processes, files, network, IPC and host name.

use nix::{
    mount::{MntFlags, MsFlags, mount, umount2},
    sched::{CloneFlags, unshare},
    sys::statvfs::{FsFlags, statvfs},
    unistd::{chdir, getgid, getuid, pivot_root, sethostname},
};
use rustix::thread::{CapabilitySet, CapabilitySets, configure_capability_in_ambient_set, set_capabilities};
use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// Devices that every program expects. Not `/dev/zero`: shared mappings of it are memory that no limit counts.
pub(super) const DEVICES: [&str; 4] = ["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];
/// The place of the old root while the new one is built.
const OLD: &str = "/old";
/// The most files and folders in the bot's temporary folder.
const INODES: u32 = 10_000;

/// Leaves the namespaces of the arena, except that of the network if `network` is true. The next process that is started is the first
/// one in the new namespaces, and may mount.
pub(in crate::process) fn leave(network: bool) -> io::Result<()> {
    let (user, group) = (getuid(), getgid());
    let mut all = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    all.set(CloneFlags::CLONE_NEWNET, !network);
    unshare(all).map_err(|error| named("new namespaces", error))?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| named(file, error))?;
    }
    // They outlive the start of the next stage, which needs them to mount, and drops them.
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::SETPCAP;
    let sets = CapabilitySets { effective: needed, permitted: needed, inheritable: needed };
    set_capabilities(None, sets).map_err(|error| named("capabilities", error))?;
    for capability in [CapabilitySet::SYS_ADMIN, CapabilitySet::SETPCAP] {
        configure_capability_in_ambient_set(capability, true)
            .map_err(|error| named("ambient capabilities", error))?;
    }
    Ok(())
}

/// Builds the bot's own root from `readable` and a `/tmp` of `temporary` bytes; enters it and `folder`.
pub(in crate::process) fn enter_root(readable: &[PathBuf], temporary: u64, folder: &Path) -> io::Result<()> {
    let quiet = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    let none = None::<&Path>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(|error| named("private mounts", error))?;
    // Any folder will do to begin with: what was in it is seen again below the old root.
    let memory = |at: &str, options: String| {
        mount(Some("tmpfs"), at, Some("tmpfs"), quiet, Some(options.as_str()))
            .map_err(|error| named(&format!("tmpfs on {at}"), error))
    };
    memory("/tmp", format!("size=4m,nr_inodes={},mode=755", 2 * INODES))?;
    fs::create_dir("/tmp/old")?;
    pivot_root("/tmp", "/tmp/old").map_err(|error| named("pivot_root", error))?;
    chdir("/")?;

    fs::create_dir("/tmp")?;
    memory("/tmp", format!("size={temporary},nr_inodes={INODES},mode=1777"))?;
    fs::create_dir("/proc")?;
    let flags = quiet | MsFlags::MS_NOEXEC | MsFlags::MS_RDONLY;
    mount(Some("proc"), "/proc", Some("proc"), flags, none).map_err(|error| named("proc", error))?;
    for path in DEVICES.iter().map(Path::new) {
        show(path, MsFlags::MS_NOSUID)?;
    }
    for (name, target) in
        [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"), ("shm", "/tmp")]
    {
        symlink(target, Path::new("/dev").join(name))?;
    }
    for path in readable {
        show(path, quiet)?;
    }
    umount2(OLD, MntFlags::MNT_DETACH).map_err(|error| named("the old root", error))?;
    fs::remove_dir(OLD)?;
    fs::create_dir_all(folder)?;
    mount(none, "/", none, MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | quiet, none)
        .map_err(|error| named("a root to be read only", error))?;
    sethostname("necrodome")?;
    chdir(folder).map_err(|error| named(&folder.display().to_string(), error))?;
    Ok(())
}

/// Shows a file or folder of the old root read-only at the same place in the new one. It skips one that no longer exists.
fn show(path: &Path, flags: MsFlags) -> io::Result<()> {
    let source = Path::new(OLD).join(path.strip_prefix("/").unwrap_or(path));
    let data = match source.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        data => data.map_err(|error| named(&path.display().to_string(), error))?,
    };
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    if data.is_symlink() {
        return symlink(source.read_link()?, path);
    }
    match data.is_dir() {
        true => fs::create_dir_all(path)?,
        false => fs::write(path, "")?,
    }
    let none = None::<&Path>;
    let failed = |error| named(&path.display().to_string(), error);
    mount(Some(&source), path, none, MsFlags::MS_BIND | MsFlags::MS_REC, none).map_err(failed)?;
    // What a mount already forbids cannot be allowed again.
    let noexec = statvfs(path).is_ok_and(|data| data.flags().contains(FsFlags::ST_NOEXEC));
    let noexec = if noexec { MsFlags::MS_NOEXEC } else { MsFlags::empty() };
    let nodev = statvfs(path).is_ok_and(|data| data.flags().contains(FsFlags::ST_NODEV));
    let nodev = if nodev { MsFlags::MS_NODEV } else { MsFlags::empty() };
    let only_read = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    mount(none, path, none, only_read | flags | noexec | nodev, none).map_err(failed)
}

fn named(what: &str, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
