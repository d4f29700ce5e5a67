// Loads a JavaScript module and calls its functions, one line of JSON for each question and answer.
//
// Nothing of the module is edited. Each copy of it that is asked for is loaded anew, so that what
// it keeps in its variables belongs to one episode. While a call with words runs, Math.random is
// answered from them.
"use strict";

const fs = require("fs");
const path = require("path");
const readline = require("readline");
const { pathToFileURL } = require("url");
const { types } = require("util");

const file = path.resolve(process.argv[2]);
const copies = new Map();
let made = 0;
let loads = 0;

// One function for good, from before the module is loaded: it may keep Math.random under a name.
const own = Math.random;
let answered = null;
Math.random = () => (answered ? answered() : own());

// What a module prints is no answer.
process.stdout.write = process.stderr.write.bind(process.stderr);

// A module of the newer kind: another query is another copy of it, though not of its imports.
function imported() {
  loads += 1;
  return import(`${pathToFileURL(file)}?copy=${loads}`);
}

async function loaded() {
  const known = new Set(Object.keys(require.cache));
  let found;
  try {
    found = require(file);
  } catch (error) {
    if (error.code !== "ERR_REQUIRE_ESM" && !/import statement|Unexpected token 'export'/.test(error.message)) {
      throw error;
    }
    return imported();
  }
  if (types.isModuleNamespaceObject(found)) return imported();
  for (const name of Object.keys(require.cache)) {
    // Packages stay: they are large, and no part of the game.
    if (!known.has(name) && !name.includes(`${path.sep}node_modules${path.sep}`)) {
      delete require.cache[name];
    }
  }
  return found;
}

function namesOf(value) {
  const names = new Set();
  for (let at = value; at && at !== Object.prototype && at !== Function.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  names.delete("constructor");
  return [...names].sort();
}

function methodsOf(value) {
  return namesOf(value).filter((name) => {
    const descriptor = Object.getOwnPropertyDescriptor(value, name);
    return !(descriptor && descriptor.get) && typeof value[name] === "function";
  });
}

function exportsOf(found) {
  const all = {};
  const whole = typeof found === "function" ? { "": found, ...found } : found;
  for (const name of namesOf(whole)) {
    const value = whole[name];
    if (typeof value === "function") all[name] = value.prototype ? methodsOf(value.prototype) : [];
  }
  return all;
}

// JSON has none of these numbers, and typed arrays would become objects.
function plain(key, value) {
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { $number: Object.is(value, -0) ? "-0.0" : String(value) };
  }
  if (typeof value === "bigint") return { $number: String(value) };
  if (ArrayBuffer.isView(value)) return Array.from(value);
  if (value instanceof Set) return [...value];
  if (value instanceof Map) return Object.fromEntries(value);
  return value;
}

function number(key, value) {
  if (value === null || typeof value !== "object" || !("$number" in value)) return value;
  return Number(value.$number.replace("inf", "Infinity"));
}

// The places of the source on the way to a draw, from the draw outwards.
function* places() {
  const form = /^\s*at (?:async )?(?:(?:new )?(.*?) \()?([^()]*:\d+):\d+\)?$/;
  const frames = new Error().stack.split("\n").map((frame) => form.exec(frame));
  const theirs = frames.filter((frame) => frame && !frame[2].includes(__filename));
  for (const [depth, [, named, where]] of theirs.entries()) {
    yield path.basename(where).replace(/\?copy=\d+/, "");
    if (named) yield* [named, named.split(".").pop()];
    if (depth === 0) yield "Math.random";
  }
}

class Chance extends Error {}

// columns: name -> its words that are left, and how many it had; "" is a row drawn in order. sites:
// place -> name.
async function drawing(draws, act) {
  if (!draws) return { value: await act() };
  const { columns, sites } = draws;
  const taken = {};
  answered = () => {
    const all = [...places()];
    const name = "" in columns ? "" : sites[all.find((place) => place in sites)];
    if (name === undefined) {
      const names = Object.keys(columns).join(", ");
      throw new Chance(`Math.random is called in ${all[0]}, which has no name in the row: add '${all[0]}' to sites, with one of ${names}`);
    }
    const { words, most } = columns[name];
    const number = taken[name] || 0;
    if (number >= words.length) {
      const whose = name ? `'${name}'` : "the row";
      throw new Chance(`${whose} has ${most} words, and Math.random in ${all[0]} asks for number ${most - words.length + number + 1} in one step: give it more in Row(...)`);
    }
    taken[name] = number + 1;
    return ((words[number] >>> 15) | 1) * 2 ** -17;
  };
  try {
    return { value: await act(), taken };
  } finally {
    answered = null;
  }
}

// What the module draws while it is loaded counts as drawn by its first call.
async function make(question) {
  const { of, args, draws } = question;
  const { value, taken } = await drawing(draws, async () => {
    const found = await loaded();
    const maker = of === "" ? found : found[of];
    if (typeof maker !== "function") return maker;
    return maker.prototype && methodsOf(maker.prototype).length ? new maker(...args) : maker(...args);
  });
  made += 1;
  copies.set(made, value);
  return { value: made, taken };
}

async function answer(question) {
  const { ask, copy, name, args, draws } = question;
  if (ask === "exports") return { value: exportsOf(await loaded()) };
  if (ask === "make") return make(question);
  if (ask === "drop") return { value: copies.delete(copy) };
  const owner = copies.get(copy);
  if (ask === "get") return { value: owner[name] };
  if (ask === "set") return { value: void (owner[name] = args[0]) };
  if (typeof owner[name] !== "function") throw new TypeError(`there is no function ${name} (there are ${methodsOf(owner).join(", ")})`);
  return drawing(draws, async () => owner[name](...args));
}

// A pipe takes a part of a long line, or none while it is full.
function say(line) {
  let left = Buffer.from(`${line}\n`);
  while (left.length) {
    try {
      left = left.subarray(fs.writeSync(1, left));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let said;
    try {
      said = JSON.stringify(await answer(JSON.parse(line, number)), plain);
    } catch (error) {
      const stack = String((error && error.stack) || error).split("\n");
      const at = stack.find((each) => each.includes(path.basename(file))) || "";
      const place = /([^\s(/]+:\d+):\d+\)?$/.exec(at);
      const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      const kind = error instanceof Chance ? { chance: error.message } : { error: words.split("\n")[0] };
      said = JSON.stringify({ ...kind, place: place ? place[1] : "" });
    }
    say(said);
  }
})();
