// What bots for Node find here: console, process.stdin and process.stdout, require("readline"). Lines come through `__line`.
(() => {
  const { __write: write, __exit: exit } = globalThis;
  const text = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value}\n${value.stack}`;
    return JSON.stringify(value) ?? String(value);
  };
  const printer = (file) => (...values) => write(file, values.map(text).join(" ") + "\n");
  const [out, err] = [printer(1), printer(2)];
  globalThis.console = { log: out, info: out, debug: out, error: err, warn: err, trace: err };

  const heard = { line: [], data: [], close: [], end: [], readable: [] };
  const emit = (event, ...values) => heard[event].forEach((listener) => listener(...values));
  const waiting = [];
  const lines = [];
  let ended = false;
  const source = {
    on(event, listener) { (heard[event] ??= []).push(listener); return this; },
    once(event, listener) { return this.on(event, listener); },
    addListener(event, listener) { return this.on(event, listener); },
    setEncoding() { return this; },
    resume() { return this; },
    pause() { return this; },
    close() {},
    async *[Symbol.asyncIterator]() {
      source.read = true;
      for (;;) {
        while (lines.length) yield lines.shift();
        if (ended) return;
        await new Promise((resolve) => waiting.push(resolve));
      }
    },
  };
  const wake = () => waiting.splice(0).forEach((resolve) => resolve());
  globalThis.process = {
    stdin: source,
    stdout: { write: (words) => (write(1, String(words)), true) },
    stderr: { write: (words) => (write(2, String(words)), true) },
    argv: ["node", "bot.js"],
    env: {},
    exit: (code = 0) => exit(code),
    on: (event, listener) => (event === "exit" ? source.on("end", listener) : undefined),
    hrtime: Object.assign(() => [Math.floor(Date.now() / 1000), 0], { bigint: () => BigInt(Date.now()) * 1000000n }),
  };
  globalThis.performance ??= { now: () => Date.now() };
  const timers = [];
  globalThis.setTimeout = (task, _, ...values) => timers.push(() => task(...values));
  globalThis.setImmediate = (task, ...values) => timers.push(() => task(...values));
  globalThis.clearTimeout = (number) => { if (timers[number - 1]) timers[number - 1] = () => {}; };
  const modules = {
    readline: { createInterface: () => source },
    process: globalThis.process,
  };
  globalThis.require = (name) => {
    const found = modules[name.replace(/^node:/, "")];
    if (!found) throw new Error(`there is no module ${name}: a bot in the arena has readline and process`);
    return found;
  };
  // Called by the host: with each line, and with null at the end.
  globalThis.__line = (line) => {
    if (line === null) {
      ended = true;
      emit("close");
      emit("end");
    } else {
      if (source.read) lines.push(line);
      emit("line", line);
      emit("data", line + "\n");
    }
    wake();
  };
  globalThis.__timers = () => {
    const due = timers.splice(0);
    due.forEach((task) => task());
    return due.length > 0;
  };
  delete globalThis.__write;
  delete globalThis.__exit;
})();
