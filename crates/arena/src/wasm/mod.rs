//! Bots as WebAssembly modules: they exchange the same lines as processes, but run inside the arena and pay with instructions
//! instead of milliseconds. So their results, including timeouts, are the same on every machine.
//!
//! A module is a command of WASI preview 1. It sees its input, its output, its log, a clock that its own instructions advance, and
//! random numbers that follow from what it was told: no files, no network, no environment.

mod machine;
mod transport;
mod wasi;

pub(crate) use machine::{Machine, millions};
pub use transport::WasmTransport;

use crate::{diagnosis::Language, fault::Fault, process::Limits};
use machine::MILLION;
use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};
use wasmi::{
    CompilationMode, Config, CustomFuelCosts, Engine, ExternType, Linker, Store, StoreLimitsBuilder,
    errors::{ErrorKind, InstantiationError, LinkerError},
};
use wasmparser::{BinaryReaderError, BlockType, CompositeInnerType, FunctionBody, Operator, Parser, Payload};

/// The name of the runtime for modules, as in reports.
pub const RUNTIME: &str = "wasmi 2";

/// The largest module, in bytes.
pub(crate) const MAX_BYTES: usize = 32 << 20;
/// The most local variables of a function. Each call sets them to zero, regardless of the fuel that it costs.
const MAX_LOCALS: u32 = 1_000;
/// The most parameters of a function.
const MAX_PARAMETERS: usize = 64;
/// The most results of a function, and the most values that a block takes or gives. Each branch copies them, with instructions that take memory
/// when they are translated. Compilers use at most one.
const MAX_VALUES: usize = 4;
/// The deepest nesting of blocks. Compilers make one for each case of a `switch`.
const MAX_NESTING: usize = 10_000;
/// The deepest nesting of calls; below, the most bytes that their variables may take.
const MAX_DEPTH: usize = 20_000;
const MAX_STACK: usize = 4 << 20;
/// Bytes that an instruction such as `memory.fill` may write for one unit of fuel.
const BYTES_PER_FUEL: u32 = 16;

/// A module that was checked and translated. Copies share it.
#[derive(Clone)]
pub struct Module {
    module: Arc<wasmi::Module>,
    linker: Arc<Linker<wasi::Wasi>>,
    /// The words of its command line.
    words: Arc<[String]>,
    /// A hash of its bytes.
    hash: blake3::Hash,
}

/// Interpreters that are ready to run: preparing one takes a second, and it runs many bots.
static SHARED: Mutex<BTreeMap<[u8; 32], Module>> = Mutex::new(BTreeMap::new());

/// The reason why a module cannot play, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadModule(String);

impl Module {
    /// Checks a module. `words` is its command line: its own name, and its arguments.
    pub fn new(bytes: &[u8], words: &[&str]) -> Result<Self, BadModule> {
        check_size(bytes)?;
        // An engine keeps what it has translated for as long as it lives, so each module has its own.
        let engine = Engine::new(&config());
        let module = wasmi::Module::new(&engine, bytes).map_err(|error| refuse(explain(&error)))?;
        let linker = wasi::linker(&engine).map_err(|error| refuse(error.to_string()))?;
        check_imports(&module, &linker)?;
        check_exports(&module)?;
        Ok(Module {
            module: Arc::new(module),
            linker: Arc::new(linker),
            words: words.iter().map(|&word| word.to_owned()).collect(),
            hash: blake3::hash(bytes),
        })
    }

    /// Does the same for a module that runs many bots: it is checked once.
    pub fn shared(bytes: &[u8], words: &[&str]) -> Result<Self, BadModule> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let module = match shared.entry(blake3::hash(bytes).into()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Module::new(bytes, &[])?),
        };
        Ok(Module { words: words.iter().map(|&word| word.to_owned()).collect(), ..module.clone() })
    }

    /// Returns the language of the source that an interpreter runs.
    pub(crate) fn language(&self) -> Language {
        Language::of(&self.words)
    }

    /// Returns a hash of everything that it consists of: its bytes and its arguments, but not its name.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.hash.as_bytes());
        for word in self.words.iter().skip(1) {
            hasher.update(blake3::hash(word.as_bytes()).as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({})", self.fingerprint())
    }
}

impl PartialEq for Module {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.words == other.words
    }
}

impl Eq for Module {}

/// The output of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// An answer for each line; after a fault from which it cannot go on, the same fault again.
    pub answers: Vec<Result<Vec<u8>, Fault>>,
    /// The text that it wrote to standard error.
    pub log: Vec<u8>,
    /// Instructions that it has used.
    pub fuel: u64,
}

/// Asks a module one line after another, without a game: the first line within the limits of a start, the others within those of a
/// decision. It comes to an end, whatever the bytes are.
pub fn converse(bytes: &[u8], lines: &[&[u8]], limits: &Limits) -> Result<Said, BadModule> {
    let module = Module::new(bytes, &["bot.wasm"])?;
    let mut machine = Machine::new(&module, limits, limits.line_bytes.unwrap_or(64 << 10));
    let ask = |(number, line): (usize, &&[u8])| {
        let millions = if number == 0 { limits.start_fuel_m } else { limits.decision_fuel_m };
        machine.send(line, false)?;
        machine.receive(millions.saturating_mul(MILLION))
    };
    let answers = lines.iter().enumerate().map(ask).collect();
    machine.end_input(limits.decision_fuel_m.saturating_mul(MILLION));
    Ok(Said { answers, log: machine.log().to_vec(), fuel: machine.spent() })
}

fn refuse(why: impl Into<String>) -> BadModule {
    BadModule(why.into())
}

/// Returns what modules may contain, and what instructions cost: one unit each, except those that only shape the code.
fn config() -> Config {
    let mut config = Config::default();
    config
        .consume_fuel(true)
        .fuel_cost(CustomFuelCosts {
            bytes_copied_per_fuel: BYTES_PER_FUEL,
            // What is shared by many bots must not be paid by the first of them.
            fuel_per_bytes_translated: 0,
            fuel_per_bytes_validated: 0,
        })
        // All is translated before the first match: mistakes show at once.
        .compilation_mode(CompilationMode::Eager)
        .set_max_recursion_depth(MAX_DEPTH)
        .set_max_stack_height(MAX_STACK)
        .ignore_custom_sections(true)
        .wasm_multi_memory(false);
    config
}

/// Checks what the runtime does not limit, before the runtime sees the rest.
fn check_size(bytes: &[u8]) -> Result<(), BadModule> {
    if bytes.len() > MAX_BYTES {
        return Err(refuse(format!("it is larger than {} MB", MAX_BYTES >> 20)));
    }
    if !bytes.starts_with(b"\0asm") {
        return Err(refuse("not a WebAssembly module: it does not begin with \\0asm"));
    }
    // How many values each type takes.
    let mut taken: Vec<usize> = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(malformed)? {
            Payload::Version { encoding: wasmparser::Encoding::Component, .. } => {
                return Err(refuse("a component, where a core module of WASI preview 1 is expected"));
            }
            Payload::TypeSection(types) => {
                for group in types {
                    for kind in group.map_err(malformed)?.types() {
                        let CompositeInnerType::Func(kind) = &kind.composite_type.inner else {
                            taken.push(0);
                            continue;
                        };
                        let (parameters, results) = (kind.params().len(), kind.results().len());
                        if parameters > MAX_PARAMETERS {
                            return Err(refuse(format!(
                                "a function with {parameters} parameters, where {MAX_PARAMETERS} are allowed"
                            )));
                        }
                        if results > MAX_VALUES {
                            return Err(refuse(format!(
                                "a function or block with {results} results, where {MAX_VALUES} are allowed"
                            )));
                        }
                        taken.push(parameters);
                    }
                }
            }
            Payload::CodeSectionEntry(body) => {
                let mut locals = 0_u32;
                for declared in body.get_locals_reader().map_err(malformed)? {
                    locals = locals.saturating_add(declared.map_err(malformed)?.0);
                }
                if locals > MAX_LOCALS {
                    return Err(refuse(format!(
                        "a function with {locals} local variables, where {MAX_LOCALS} are allowed: compile it with -O2"
                    )));
                }
                check_blocks(&body, &taken)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks the blocks of a function; `taken` is the number of values that each type takes.
fn check_blocks(body: &FunctionBody, taken: &[usize]) -> Result<(), BadModule> {
    let mut code = body.get_operators_reader().map_err(malformed)?;
    // The function itself is a block.
    let mut depth = 1_usize;
    while !code.eof() {
        // The runtime does not expect it.
        if depth == 0 {
            return Err(refuse("malformed: code behind the end of a function"));
        }
        let kind = match code.read().map_err(malformed)? {
            Operator::Block { blockty } | Operator::Loop { blockty } | Operator::If { blockty } => blockty,
            Operator::End => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ => continue,
        };
        depth += 1;
        if depth > MAX_NESTING + 1 {
            return Err(refuse(format!("blocks are nested more than {MAX_NESTING} deep")));
        }
        let BlockType::FuncType(kind) = kind else { continue };
        let values = taken.get(kind as usize).copied().unwrap_or(0);
        if values > MAX_VALUES {
            return Err(refuse(format!(
                "a block that takes {values} values, where {MAX_VALUES} are allowed"
            )));
        }
    }
    Ok(())
}

fn malformed(error: BinaryReaderError) -> BadModule {
    refuse(format!("malformed: {error}"))
}

/// Checks that a module exports an entry and a memory, as every command does.
fn check_exports(module: &wasmi::Module) -> Result<(), BadModule> {
    match module.get_export("_start") {
        Some(ExternType::Func(start)) if start.params().is_empty() && start.results().is_empty() => {}
        _ => return Err(refuse("it exports no function _start, which every WASI command has")),
    }
    match module.get_export("memory") {
        Some(ExternType::Memory(_)) => Ok(()),
        _ => Err(refuse("it exports no memory under the name memory, which every WASI command does")),
    }
}

/// Checks that a module imports only functions of WASI preview 1, by linking it without memory and without fuel.
fn check_imports(module: &wasmi::Module, linker: &Linker<wasi::Wasi>) -> Result<(), BadModule> {
    let nothing = StoreLimitsBuilder::new().memory_size(0).table_elements(0).build();
    let mut store = Store::new(module.engine(), wasi::Wasi::new(&[], 0, nothing));
    store.limiter(|wasi| &mut wasi.limits);
    let Err(error) = linker.instantiate_and_start(&mut store, module) else { return Ok(()) };
    match error.kind() {
        ErrorKind::Linker(LinkerError::MissingDefinition { name, .. }) => Err(refuse(format!(
            "it imports {:?} of {:?}: expected nothing but functions of {}",
            name.name(),
            name.module(),
            wasi::NAMESPACE
        ))),
        ErrorKind::Linker(LinkerError::InvalidTypeDefinition { name, .. })
        | ErrorKind::Instantiation(InstantiationError::FuncTypeMismatch { name, .. }) => Err(refuse(
            format!("it imports {:?} with another signature than WASI preview 1 has", name.name()),
        )),
        // What it lacks here it gets when it plays.
        _ => Ok(()),
    }
}

/// Says what is wrong with a module that is not accepted.
fn explain(error: &wasmi::Error) -> String {
    match error.kind() {
        ErrorKind::Wasm(error) => format!("invalid: {error}"),
        _ => format!("cannot be translated: {error}"),
    }
}
