//! The rights that a process gives up before it becomes a bot: capabilities, files by Landlock, system calls by seccomp, and resources.

use super::namespaces::DEVICES;
use crate::process::launch::Resources;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};
use nix::{
    libc,
    sys::{
        prctl,
        resource::{Resource, getrlimit, rlim_t, setrlimit},
    },
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter, sock_filter,
};
use std::{
    collections::BTreeMap,
    env, io,
    path::{Path, PathBuf},
};

/// What Landlock allows.
pub(in crate::process) struct Walls<'a> {
    /// Files and folders that the bot can read and run.
    pub readable: &'a [PathBuf],
    /// The folder that the bot runs in, which it can list even if some of its files are hidden.
    pub folder: Option<&'a Path>,
    /// The only folder that the bot can write to.
    pub temporary: &'a Path,
    /// Whether the bot has its own file system, whose `/proc` shows no other processes.
    pub own_files: bool,
    /// Whether the bot can reach the network.
    pub network: bool,
}

/// Gives up everything that a bot does not get. This process and those that it starts cannot undo it.
pub(in crate::process) fn close(resources: &Resources, walls: Option<&Walls>) -> io::Result<()> {
    limit(resources)?;
    prctl::set_no_new_privs()?;
    drop_capabilities()?;
    if let Some(walls) = walls {
        restrict_files(walls).map_err(|error| io::Error::other(format!("Landlock: {error}")))?;
        for filter in filters(walls).map_err(|error| io::Error::other(format!("seccomp: {error}")))? {
            apply_filter(&filter).map_err(|error| io::Error::other(format!("seccomp: {error}")))?;
        }
    }
    Ok(())
}

fn limit(resources: &Resources) -> io::Result<()> {
    let set = |resource: Resource, limit: rlim_t| {
        let (_, most) = getrlimit(resource)?;
        setrlimit(resource, limit.min(most), limit.min(most))
    };
    // Private writable memory; the address space would also count what runtimes only reserve.
    set(Resource::RLIMIT_DATA, resources.memory)?;
    set(Resource::RLIMIT_NPROC, resources.processes)?;
    set(Resource::RLIMIT_NOFILE, resources.files)?;
    set(Resource::RLIMIT_FSIZE, resources.file_size)?;
    set(Resource::RLIMIT_MEMLOCK, 64 << 10)?;
    set(Resource::RLIMIT_MSGQUEUE, 0)?;
    set(Resource::RLIMIT_CORE, 0)?;
    Ok(())
}

/// Drops all capabilities. A process of the superuser would get them back when it starts a program; `no_new_privs` prevents that.
fn drop_capabilities() -> io::Result<()> {
    // Not offered by every kernel, and nothing is in it that was not put there.
    let _ = clear_ambient_capability_set();
    for bit in 0..=40 {
        // Only who may set capabilities may do this, and only they need to.
        let _ = remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit));
    }
    let nothing = CapabilitySet::empty();
    Ok(set_capabilities(
        None,
        CapabilitySets { effective: nothing, permitted: nothing, inheritable: nothing },
    )?)
}

/// The files of `/proc` that runtimes read on systems where it shows other processes, too: those of the bot itself, and of the machine.
const PROC: [&str; 12] = [
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel",
    "/proc/sys/vm",
    "/proc/uptime",
    "/proc/version",
    "/proc/version_signature",
    "/proc/vmstat",
];

fn restrict_files(walls: &Walls) -> Result<(), Box<dyn std::error::Error>> {
    // The newest rights that were tried; an older kernel enforces those that it knows.
    let abi = ABI::V6;
    let read = AccessFs::from_read(abi);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let proc: &[&str] = if walls.own_files { &["/proc"] } else { &PROC };
    // Nothing but folders that lead to what can be read.
    let root: &[&str] = if walls.own_files { &["/"] } else { &[] };
    // A rule for a link would be one for what it leads to.
    let files = walls.readable.iter().filter(|path| !path.is_symlink());
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .scope(Scope::from_all(abi))?;
    if !walls.network {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    let status = rules
        .create()?
        .add_rules(path_beneath_rules(files, read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(root, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(walls.folder, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(proc, AccessFs::ReadFile | AccessFs::ReadDir))?
        .add_rules(path_beneath_rules([walls.temporary], AccessFs::from_all(abi)))?
        .restrict_self()?;
    match status.ruleset {
        RulesetStatus::NotEnforced => {
            Err("the kernel does not offer it (Linux 5.13, in the list of `lsm=`)".into())
        }
        _ => Ok(()),
    }
}

/// System calls that no bot needs, and that let a program look into others, change the machine, communicate, hold memory that no limit
/// counts, or reach the parts of the kernel in which most holes were found. Everything else is allowed, since bots come with all kinds of
/// runtimes.
const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Namespaces, mounts and roots.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // The kernel and the machine.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_personality,
    // Others that listen. A pair of sockets is a pipe, and allowed.
    libc::SYS_socket,
    // They can put sockets into sockets, where nobody counts them.
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // When others open files of the system.
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    // Memory that belongs to no process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    // A larger share of the processor, or none, so that waiting looks like the machine's fault.
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// More system calls to refuse, which exist on one processor only.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] =
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_inotify_init];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

/// System calls that Landlock does not check: modes, owners, times and attributes of files that all processes of the user share.
const REFUSED_WITH_FILES_OF_OTHERS: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// System calls that runtimes try, and replace if the kernel does not know them.
const UNKNOWN: &[i64] = &[
    // Its flags are in memory, where no filter sees them; `clone` is used instead.
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// The last system call that was reviewed (`mseal`). Later ones, and those of other binary interfaces, count as unknown.
const LAST: u32 = 462;

/// The bits of a socket's type that are not flags.
const SOCKET_KIND: u64 = 0xf;

/// Returns three filters: for refused, for unknown and for feigned system calls.
fn filters(walls: &Walls) -> Result<[BpfProgram; 3], Box<dyn std::error::Error>> {
    let errno = |code: libc::c_int| SeccompAction::Errno(code as u32);
    let compile =
        |rules: BTreeMap<i64, Vec<SeccompRule>>, code| -> Result<BpfProgram, Box<dyn std::error::Error>> {
            let arch = env::consts::ARCH.try_into()?;
            Ok(SeccompFilter::new(rules, SeccompAction::Allow, errno(code), arch)?.try_into()?)
        };
    let word =
        |index, operator, value| SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value);
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().chain(REFUSED_HERE).map(|&call| (call, Vec::new())).collect();
    if walls.network {
        // Sockets of the network, and no others.
        let [v4, v6] = [libc::AF_INET, libc::AF_INET6].map(|family| word(0, SeccompCmpOp::Ne, family as u64));
        refused.insert(libc::SYS_socket, vec![SeccompRule::new(vec![v4?, v6?])?]);
        // Names are asked for by them.
        refused.remove(&libc::SYS_sendmsg);
        refused.remove(&libc::SYS_sendmmsg);
    }
    if !walls.own_files {
        refused.extend(REFUSED_WITH_FILES_OF_OTHERS.iter().map(|&call| (call, Vec::new())));
        #[cfg(target_arch = "x86_64")]
        refused.extend(
            [
                libc::SYS_chmod,
                libc::SYS_chown,
                libc::SYS_lchown,
                libc::SYS_utime,
                libc::SYS_utimes,
                libc::SYS_futimesat,
            ]
            .map(|call| (call, Vec::new())),
        );
    }
    // New namespaces, by any of their flags.
    let namespaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let new = |flag: libc::c_int| {
        SeccompRule::new(vec![word(0, SeccompCmpOp::MaskedEq(flag as u64), flag as u64)?])
    };
    refused.insert(libc::SYS_clone, namespaces.into_iter().map(new).collect::<Result<_, _>>()?);
    // Pairs of other sockets than local streams, and larger buffers: what waits in a socket is memory of nobody (see `excess`).
    let foreign = SeccompRule::new(vec![word(0, SeccompCmpOp::Ne, libc::AF_UNIX as u64)?])?;
    let others = [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET];
    let others =
        others.map(|kind| SeccompRule::new(vec![word(1, SeccompCmpOp::MaskedEq(SOCKET_KIND), kind as u64)?]));
    let others = others.into_iter().chain([Ok(foreign)]);
    refused.insert(libc::SYS_socketpair, others.collect::<Result<_, _>>()?);
    let buffers = [libc::SO_SNDBUF, libc::SO_SNDBUFFORCE, libc::SO_RCVBUF, libc::SO_RCVBUFFORCE];
    let buffers = buffers.map(|option| SeccompRule::new(vec![word(2, SeccompCmpOp::Eq, option as u64)?]));
    refused.insert(libc::SYS_setsockopt, buffers.into_iter().collect::<Result<_, _>>()?);
    // Whose files nobody could count.
    let dumpable = SeccompRule::new(vec![word(0, SeccompCmpOp::Eq, libc::PR_SET_DUMPABLE as u64)?])?;
    refused.insert(libc::SYS_prctl, vec![dumpable]);
    // Shared memory without a file, which no limit of a process counts.
    let shared = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u64;
    let shared = SeccompRule::new(vec![word(3, SeccompCmpOp::MaskedEq(shared), shared)?])?;
    refused.insert(libc::SYS_mmap, vec![shared]);
    // What is typed at a terminal.
    let typed = [libc::TIOCSTI, libc::TIOCLINUX];
    let typed = typed.map(|request| SeccompRule::new(vec![word(1, SeccompCmpOp::Eq, request)?]));
    refused.insert(libc::SYS_ioctl, typed.into_iter().collect::<Result<_, _>>()?);

    // The limits of others.
    let others = SeccompRule::new(vec![word(0, SeccompCmpOp::Ne, 0)?])?;
    refused.insert(libc::SYS_prlimit64, vec![others]);

    // Locks on files of the system would be seen by other bots. Nobody else has the files of this one: locking always succeeds.
    let locks = [
        libc::F_GETLK,
        libc::F_SETLK,
        libc::F_SETLKW,
        libc::F_OFD_GETLK,
        libc::F_OFD_SETLK,
        libc::F_OFD_SETLKW,
    ];
    let locks = locks.map(|command| SeccompRule::new(vec![word(1, SeccompCmpOp::Eq, command as u64)?]));
    let locks = locks.into_iter().collect::<Result<_, _>>()?;
    let feigned = compile(BTreeMap::from([(libc::SYS_fcntl, locks), (libc::SYS_flock, Vec::new())]), 0)?;

    let unknown = compile(UNKNOWN.iter().map(|&call| (call, Vec::new())).collect(), libc::ENOSYS)?;
    Ok([compile(refused, libc::EPERM)?, known_only(unknown), feigned])
}

/// Puts a check in front of a filter: everything after the last known system call is unknown.
fn known_only(filter: BpfProgram) -> BpfProgram {
    let instruction = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let load_number = instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let is_later = instruction(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 0, 1, LAST);
    let code = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    let unknown = instruction(libc::BPF_RET | libc::BPF_K, 0, 0, code);
    [load_number, is_later, unknown].into_iter().chain(filter).collect()
}
