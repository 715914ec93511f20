// Scores records with a toptau model, with the bits of `toptau score`. One file for Node.js and browsers,
// without dependencies.
//
//     import { Model } from "./toptau.mjs";
//
//     const model = await Model.load("model.json");          // a path in Node.js, an address in a page
//     model.score({ bytes: 312, service: "http" });          // one record: a number
//     model.decisionFunction(records);                       // Float64Array
//     model.predict(records, { at: "strict" });              // score > threshold of an operating point
//     model.explain({ bytes: 312, service: "http" });        // what each column adds
//
// Rows are objects by column, or lists with one value for each of model.columns; any iterable of them.
//
// Values: null, NaN and the empty text are missing, and so are the spellings that the training file used. A
// number is taken unchanged. A text in a numeric column is read as toptau reads a field of a file: a decimal
// number, NaN for a missing value, and true, false, t and f, in any case, for 1 and 0. Blanks around a value are
// not part of it. A number in a categorical column is its decimal text (80 is "80"), and true and false are the
// categories of these names. Columns of times accept texts, Dates (in UTC) and numbers since 1970.
// Columns that the model does not know are ignored; an absent column that has a weight is an error.
//
// A model file is refused if its checksum does not match, if it has a form or a part that toptau does not
// write, or if a probe row does not have the recorded score. Certificates, guarantees and signatures are not
// checked again: `toptau inspect` does that. Loading takes time in proportion to the size of the file, and
// memory of at most 40 times its size, which options.maxBytes limits.

/** The version of the model files that this reader knows. */
const FORMAT = 1;

/** The largest model file that is read unless options.maxBytes is set, in bytes. */
const MAX_BYTES = 2 ** 28;

/**
 * A problem that the user can fix. The message has all parts that are known:
 *
 *     FILE: row ROW: column "COLUMN": FOUND, expected EXPECTED (FIX)
 */
export class ToptauError extends Error {
  constructor(found, expected = "", place = {}) {
    super(found);
    this.name = "ToptauError";
    this.found = found;
    this.expected = expected;
    this.at(place);
  }

  /** Sets what is known of file, row (from 1), column and fix. */
  at({ file = this.file, row = this.row, column = this.column, fix = this.fix }) {
    Object.assign(this, { file, row, column, fix });
    const text =
      (file ? `${file}: ` : "") + (row ? `row ${row}: ` : "") + (column ? `column ${quote(column)}: ` : "") + this.found +
      (this.expected ? `, expected ${this.expected}` : "") + (fix ? ` (${fix})` : "");
    // eslint-disable-next-line no-control-regex
    this.message = text.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
    return this;
  }
}

const refuse = (what) => new ToptauError(`edited or damaged: ${what}`, "", { fix: "copy or train the model again" });

function quote(value) {
  const text = String(value);
  return JSON.stringify(text.length <= 60 ? text : text.slice(0, 60) + "...");
}

// ---- Numbers and texts, as the readers of files read them ----

const DECIMAL = /^[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*$/;
const trimBlanks = (text) => text.replace(/^[ \t]+|[ \t]+$/g, "");

const MAX_NUMBER = 4096; // characters of a number

/** Returns the nearest number of a decimal text; NaN for other text and for numbers that are too large or too long. */
function parseNumber(text) {
  if (!DECIMAL.test(text) || text.endsWith("\n") || text.length > MAX_NUMBER && trimBlanks(text).length > MAX_NUMBER) return NaN;
  const x = Number(text);
  return Number.isFinite(x) ? x : NaN;
}

const WORDS = new Map([["true", 1], ["t", 1], ["false", 0], ["f", 0]]);

/** Returns the number of a field of a numeric column, NaN if it is missing; undefined if it has none. */
function parseField(text) {
  const word = trimBlanks(text).toLowerCase();
  if (/^[+-]?nan$/.test(word)) return NaN;
  const x = WORDS.get(word) ?? parseNumber(text);
  return Number.isNaN(x) ? undefined : x;
}

/** Returns a number that has a decimal mark with a point, and without the marks between groups of three digits. */
function withPoint(text, mark) {
  if (!mark) return text;
  const group = mark === "." ? "," : ".";
  const [, whole, rest] = new RegExp(`^([^${mark}]*)([^]*)$`).exec(trimBlanks(text));
  if (whole.includes(group) && !/^[+-]?[0-9]{1,3}(?:[.,][0-9]{3})+$/.test(whole)) return text + group + group; // no number
  return whole.replaceAll(group, "") + rest.replace(mark, ".");
}

const UNITS = ["%", "$", "€", "£", "¥"];

/** Returns a number without the unit after it, or before it and after its sign. */
function withoutUnit(text, unit) {
  const b = trimBlanks(text);
  if (b.endsWith(unit)) return trimBlanks(b.slice(0, -unit.length));
  const sign = /^[+-]?/.exec(b)[0];
  return b.startsWith(unit, sign.length) ? sign + trimBlanks(b.slice(sign.length + unit.length)) : b;
}

/** Returns sign, digits without zeros at the end, and exponent: x = 0.DIGITS * 10^exponent. */
function digitsOf(x) {
  const [, sign, first, rest = "", exponent] = /^(-?)(.)(?:\.(.*))?e(.*)$/.exec(x.toExponential());
  return [sign, x === 0 ? "" : first + rest, x === 0 ? 1 : Number(exponent) + 1];
}

/** Returns a number in its shortest form without an exponent: the text of a number in a categorical column and in reasons. */
function plain(x) {
  const [sign, digits, point] = digitsOf(x);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return sign + digits.slice(0, point).padEnd(point, "0") + (digits.length > point ? "." + digits.slice(point) : "");
}

/** Returns the text of a value; "" if it is missing. */
function textOf(value) {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      if (Number.isNaN(value)) return "";
      if (!Number.isFinite(value)) throw new ToptauError(String(value), "a finite number");
      return plain(value);
    case "bigint":
    case "boolean":
      return String(value);
  }
  if (value === null) return "";
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new ToptauError(`a value of type ${typeof value}`, "a text or a number");
}

const DATE =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?)?)?$/;
const WEEKDAYS = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"]; // 1970-01-01 was a Thursday

/** Returns the days from 1970-01-01 to a date: years begin in March, so that the leap day is their last. */
function daysBefore(year, month, day) {
  if (month <= 2) [year, month] = [year - 1, month + 12];
  const leaps = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
  return 365 * year + leaps + Math.floor((153 * (month - 3) + 2) / 5) + day - 719469;
}

/** Inverts daysBefore for the day. */
function dayOfMonth(days) {
  days += 719468;
  const rest = days - 146097 * Math.floor(days / 146097);
  const year = Math.floor((rest - Math.floor(rest / 1460) + Math.floor(rest / 36524) - Math.floor(rest / 146096)) / 365);
  const inYear = rest - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * inYear + 2) / 153);
  return inYear - Math.floor((153 * month + 2) / 5) + 1;
}

/** Returns seconds and nanoseconds since 1970 and the zone in seconds; null if the text is not a time. */
function parseTime(text) {
  text = trimBlanks(text);
  if (text.length >= 10 && text[2] === "." && text[5] === ".") text = `${text.slice(6, 10)}-${text.slice(3, 5)}-${text.slice(0, 2)}${text.slice(10)}`;
  const match = DATE.exec(text);
  if (match === null) {
    const x = parseNumber(text);
    return Number.isNaN(x) ? null : epoch(x);
  }
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((digits) => Number(digits ?? 0));
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const length = [4, 6, 9, 11].includes(month) ? 30 : month === 2 ? 28 + Number(leap) : 31;
  if (month < 1 || month > 12 || day < 1 || day > length || hour > 23 || minute > 59 || second > 59) return null;
  let zone = 0;
  if (match[8] && match[8] !== "Z") {
    const [zoneHour, zoneMinute] = [Number(match[8].slice(1, 3)), Number(match[8].slice(4))];
    if (zoneHour > 23 || zoneMinute > 59) return null;
    zone = (3600 * zoneHour + 60 * zoneMinute) * (match[8][0] === "-" ? -1 : 1);
  }
  const nanos = Number((match[7] ?? "").slice(0, 9).padEnd(9, "0"));
  return [86400 * daysBefore(year, month, day) + 3600 * hour + 60 * minute + second - zone, nanos, zone];
}

/** Returns the time of a number of seconds, milliseconds, microseconds or nanoseconds since 1970. */
function epoch(x) {
  if (!(Math.abs(x) <= 1e19)) return null;
  for (let i = 0; i < 3; i++) if (Math.abs(x) >= 1e11) x /= 1000;
  const whole = Math.floor(x);
  return [whole, Math.trunc((x - whole) * 1e9), 0];
}

/** Returns hour, day or seconds of a time. */
function timePart(part, origin, [seconds, nanos, zone]) {
  const days = Math.floor((seconds + zone) / 86400);
  if (part === "hour") return Math.floor((seconds + zone - 86400 * days) / 3600);
  if (part === "day") return dayOfMonth(days);
  return seconds - origin + nanos / 1e9;
}

/** Returns the 4 or 16 bytes of an IP address; null if the text is none. A zone is dropped. */
function parseAddress(text) {
  text = trimBlanks(text);
  if (text.length > 60) return null;
  const four = parseFour(text);
  if (four) return four;
  const percent = text.indexOf("%");
  if (percent >= 0 && percent === text.length - 1) return null;
  const halves = (percent < 0 ? text : text.slice(0, percent)).split("::");
  if (halves.length > 2) return null;
  const lists = [];
  for (const [i, half] of halves.entries()) {
    const list = [];
    const groups = half === "" ? [] : half.split(":");
    for (const [j, group] of groups.entries()) {
      if (group.includes(".")) {
        const tail = i === halves.length - 1 && j === groups.length - 1 ? parseFour(group) : null;
        if (!tail) return null;
        list.push(...tail);
      } else if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
        const value = parseInt(group, 16);
        list.push(value >> 8, value & 255);
      } else return null;
    }
    lists.push(list);
  }
  const known = lists[0].length + (lists[1]?.length ?? 0);
  if (halves.length === 1 ? known !== 16 : known > 14) return null;
  const bytes = [...lists[0], ...new Array(16 - known).fill(0), ...(lists[1] ?? [])];
  const mapped = bytes.slice(0, 10).every((b) => b === 0) && bytes[10] === 255 && bytes[11] === 255;
  return mapped ? bytes.slice(12) : bytes;
}

function parseFour(text) {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((p) => /^(0|[1-9][0-9]{0,2})$/.test(p) && Number(p) < 256)) return null;
  return parts.map(Number);
}

/** Returns the network or the range of an IP address; null if the text is none. */
function addressPart(part, text) {
  const a = parseAddress(text);
  if (a === null) return null;
  const four = a.length === 4;
  if (part === "range") {
    if (four ? a[0] === 10 || (a[0] === 172 && a[1] >> 4 === 1) || (a[0] === 192 && a[1] === 168) : (a[0] & 254) === 252) return "private";
    if (four ? a[0] === 127 : a.every((b, i) => b === (i === 15 ? 1 : 0))) return "loopback";
    if (four ? a[0] === 169 && a[1] === 254 : a[0] === 254 && a[1] >> 6 === 2) return "link-local";
    return (four ? a[0] >> 4 === 14 : a[0] === 255) ? "multicast" : "public";
  }
  const bits = { "/8": [8, 32], "/16": [16, 48], "/24": [24, 64] }[part][four ? 0 : 1];
  const net = a.map((b, i) => (8 * i < bits ? b : 0));
  return `${four ? net.join(".") : sixText(net)}/${bits}`;
}

/** Returns the text of an IPv6 address, the longest run of zeros written as "::". */
function sixText(bytes) {
  const groups = [];
  for (let i = 0; i < 16; i += 2) groups.push(256 * bytes[i] + bytes[i + 1]);
  let [start, length] = [-1, 1];
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === 0) end++;
    if (end - i > length) [start, length] = [i, end - i];
  }
  const hex = (list) => list.map((g) => g.toString(16)).join(":");
  return start < 0 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

// ---- SHA-256 (FIPS 180-4): the one of browsers is asynchronous, and scoring is not ----

let rounds; // the first 32 bits of the fractional parts of the cube roots of the first 64 primes
let initial; // and of the square roots of the first 8

function primeRoots() {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
  rounds = Uint32Array.from(primes, (p) => Math.floor((Math.cbrt(p) % 1) * 2 ** 32));
  initial = Uint32Array.from(primes.slice(0, 8), (p) => Math.floor((Math.sqrt(p) % 1) * 2 ** 32));
}

/** Returns the SHA-256 of bytes in hexadecimal. */
function sha256(bytes) {
  return sha256Of(bytes, [bytes.length])[0];
}

/** The same for the first bytes of a list, up to each of ends, which ascend. */
function sha256Of(bytes, ends) {
  if (!rounds) primeRoots();
  const state = Uint32Array.from(initial);
  let done = 0;
  return ends.map((end) => {
    const whole = end - (end % 64);
    addBlocks(state, bytes.subarray(done, whole));
    done = whole;
    const tail = new Uint8Array(end - whole < 56 ? 64 : 128);
    tail.set(bytes.subarray(whole, end));
    tail[end - whole] = 128;
    new DataView(tail.buffer).setBigUint64(tail.length - 8, BigInt(end) * 8n);
    const last = state.slice();
    addBlocks(last, tail);
    return Array.from(last, (x) => x.toString(16).padStart(8, "0")).join("");
  });
}

function addBlocks(state, part) {
  const w = new Uint32Array(64);
  const view = new DataView(part.buffer, part.byteOffset, part.length);
  for (let first = 0; first < part.length; first += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(first + 4 * i);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3)) +
        (((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = (h + (((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))) + ((e & f) ^ (~e & g)) + rounds[i] + w[i]) | 0;
      const two = ((((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + one) | 0;
      d = c; c = b; b = a; a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => (state[i] += x));
  }
}

/** Returns the category that stands for a name in a model with hashed categories. */
const hashName = (salt, name) => sha256(new TextEncoder().encode(`${salt}\0${name}`)).slice(0, 24);

// ---- Checks of a model file ----

const isNumber = (x) => typeof x === "number";
const isPlace = (x, limit) => Number.isInteger(x) && x >= 0 && x < limit;

function numbers(values, what, count = values?.length) {
  if (!Array.isArray(values) || !values.every(Number.isFinite) || values.length !== count) throw refuse(`${what} is not a list of numbers of the right length`);
  return values;
}

function places(values, limit, what) {
  if (!Array.isArray(values) || !values.every((v) => isPlace(v, limit))) throw refuse(`${what} is not a list of places below ${limit}`);
  return values;
}

function ascending(values, what) {
  for (let i = 1; i < values.length; i++) if (!(values[i - 1] < values[i])) throw refuse(`${what} is not ascending`);
  return values;
}

const TESTS = {
  text: (x) => typeof x === "string",
  whole: Number.isSafeInteger,
  number: Number.isFinite,
  flag: (x) => typeof x === "boolean",
  list: Array.isArray,
  object: (x) => typeof x === "object" && x !== null && !Array.isArray(x),
  any: () => true,
};

/**
 * Returns an object of a model file after a check of its fields. kinds has a test for each, with "!" if the field
 * must be there.
 */
function fields(value, what, kinds) {
  if (!TESTS.object(value)) throw refuse(`${what} is not an object`);
  for (const name of Object.keys(value)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : "";
    if (kind === "") throw refuse(`${what} has an unknown field ${quote(name)}`);
    const test = kind.replace("!", "");
    if (!TESTS[test](value[name])) throw refuse(`${what}: ${name} is not a ${test}`);
  }
  for (const [name, kind] of Object.entries(kinds)) {
    if (kind.endsWith("!") && !Object.hasOwn(value, name)) throw refuse(`${what} has no ${name}`);
  }
  return value;
}

// ---- The columns of records ----

const NUMERIC_PARTS = ["hour", "day", "seconds"];
const TEXT_PARTS = ["weekday", "/8", "/16", "/24", "range"];
const SPELLINGS = [["false", "true"], ["False", "True"], ["FALSE", "TRUE"]];
const MISSING = -1; // codes of categories that have no place
const UNKNOWN = -2;

/** A feature column of the training file: it turns values into numbers or codes of categories. */
class Column {
  constructor(c, missing, decimal) {
    this.mark = decimal; // of numbers in texts
    this.name = c.name;
    this.part = c.part ?? "";
    this.numeric = c.kind === "numeric";
    this.source = c.source ?? c.name; // the column of a record that the value comes from
    this.origin = c.origin ?? 0;
    this.salt = c.salt ?? "";
    this.unit = c.unit ?? ""; // that numbers in texts may have
    this.missing = new Set(["", ...missing.map(trimBlanks)]);
    this.missingNumbers = [...this.missing].map(parseNumber).filter((x) => !Number.isNaN(x));
    this.input = -1; // its place in the program
    this.categories = new Map();
    this.truth = SPELLINGS[0];
  }

  /** Makes the column an input of the program. */
  use(place, text, policy, fill) {
    this.input = place;
    this.required = policy === "error";
    this.fill = policy === "indicator" ? NaN : policy === "median" ? fill : 0;
    this.absent = policy === "median" ? 0 : MISSING;
    this.rare = text?.rare ?? false;
    (text?.categories ?? []).forEach((c, i) => this.categories.set(c, i));
    const found = SPELLINGS.filter((pair) => pair.some((text) => this.categories.has(this.spelled(text))));
    if (found.length > 0) this.truth = found.length === 1 ? found[0] : null; // several: true and false are errors
  }

  spelled(text) {
    return this.salt ? hashName(this.salt, text) : text;
  }

  error(found, expected) {
    return new ToptauError(found, expected, { column: this.part ? this.source : this.name });
  }

  noValue() {
    const fix = "train with --impute median or --impute indicator";
    return new ToptauError("a missing value", this.numeric ? "a number" : "a category", { column: this.name, fix });
  }

  isMissing(text) {
    return this.missing.has(trimBlanks(text));
  }

  /** Returns the value of a row as the program sees it: a number, or a code. */
  read(value) {
    return this.numeric ? this.resolved(this.number(value)) : this.code(this.category(value));
  }

  resolved(x) {
    if (x === x || this.input < 0) return x;
    if (this.required) throw this.noValue();
    return this.fill;
  }

  /** Returns the number of a value, NaN if it is missing. */
  number(value) {
    if (typeof value === "number") {
      if (Number.isNaN(value) || this.missingNumbers.includes(value)) return NaN;
      if (!Number.isFinite(value)) throw this.error(String(value), "a finite number");
      return this.part ? this.timeOf(plain(value)) : value;
    }
    if (value === null) return NaN;
    if (typeof value === "boolean" && !this.part) return Number(value);
    if (value instanceof Date && !this.part) throw this.error("a Date", "a number");
    const text = this.text(value);
    if (this.isMissing(text)) return NaN;
    if (this.part) return this.timeOf(text);
    let x = parseField(typeof value === "string" ? withPoint(text, this.mark) : text);
    if (x === undefined && this.unit) {
      const number = parseNumber(withPoint(withoutUnit(text, this.unit), this.mark));
      if (!Number.isNaN(number)) x = number;
    }
    if (x === undefined) throw this.error(quote(text), this.unit ? `a number, with or without ${this.unit}` : "a number");
    return x;
  }

  text(value) {
    try {
      return textOf(value);
    } catch (e) {
      throw e instanceof ToptauError ? e.at({ column: this.name }) : e;
    }
  }

  time(text) {
    const time = parseTime(text);
    if (time === null) throw this.error(quote(text), "a time such as 2024-05-31 23:59:59, or seconds since 1970");
    return time;
  }

  timeOf(text) {
    return timePart(this.part, this.origin, this.time(text));
  }

  /** Returns the category of a value, null if it is missing. */
  category(value) {
    if (typeof value === "boolean") {
      if (!this.truth) throw this.error(String(value), "a text: the model has several spellings of true and false");
      value = this.truth[Number(value)];
    }
    if (typeof value === "number" && this.missingNumbers.includes(value)) return null;
    if (value instanceof Date && !this.part) throw this.error("a Date", "a text");
    let text = trimBlanks(this.text(value));
    if (this.isMissing(text)) return null;
    if (typeof value === "number" || typeof value === "bigint") text = this.numberText(text);
    if (this.part === "weekday") {
      const [seconds, , zone] = this.time(text);
      const days = Math.floor((seconds + zone) / 86400);
      text = WEEKDAYS[((days % 7) + 7) % 7];
    } else if (this.part) {
      const found = addressPart(this.part, text);
      if (found === null) throw this.error(quote(text), "an IP address");
      text = found;
    }
    return this.spelled(text);
  }

  /** Returns the text of a number, 3 for 3 and 3.0, as a category: 3.0 if the model knows only that. */
  numberText(text) {
    const known = (t) => this.categories.has(this.spelled(t));
    return !text.includes(".") && !known(text) && known(text + ".0") ? text + ".0" : text;
  }

  code(category) {
    if (this.input < 0) return UNKNOWN;
    if (category === null) {
      if (this.required) throw this.noValue();
      return this.absent;
    }
    return this.categories.get(category) ?? UNKNOWN;
  }

  /** Reads a field of a probe row: it is the part of a time or an address, and may be a hash. */
  probe(field) {
    if (!this.numeric) {
      return this.code(this.isMissing(field) ? null : this.categories.has(field) ? field : this.spelled(field));
    }
    if (this.isMissing(field)) return this.resolved(NaN);
    const x = parseNumber(field);
    if (Number.isNaN(x)) throw this.error(quote(field), "a number");
    return x;
  }
}

// ---- The program ----
//
// A score is (0 + products of the terms in order) + offset. each visits the products of a term for one row, with their inputs, in order; those of
// trees have none. x has the inputs' numbers and codes; of LIBSVM rows, entries are those that are not 0.

function tooLarge(x, column) {
  return new ToptauError(`${x} is too large to be scored`, "a value that stays below 3e+38 after scaling", { column });
}

/** float32((x - shift) / scale) times a weight, for several inputs. */
class Numbers {
  constructor(t, program) {
    fields(t, "numbers", { inputs: "list", shift: "list", scale: "list", weights: "list!" });
    this.inputs = program.numeric(t.inputs ?? [...program.columns.keys()]);
    const list = (name, value) => numbers(t[name] ?? new Array(this.inputs.length).fill(value), name, this.inputs.length);
    this.shift = list("shift", 0);
    this.scale = list("scale", 1);
    this.weights = list("weights");
    if (!this.scale.every((s) => s > 0)) throw refuse("a scale that is not above 0");
    this.place = program.sparse ? new Map(this.inputs.map((k, i) => [k, i])) : null;
    this.name = program.name;
  }

  product(v, i) {
    if (v !== v) return 0;
    const value = Math.fround((v - this.shift[i]) / this.scale[i]);
    if (!Number.isFinite(value)) throw tooLarge(v, this.name(this.inputs[i]));
    return value * this.weights[i];
  }

  each(x, entries, visit) {
    if (this.place === null) this.inputs.forEach((k, i) => visit(k, this.product(x[k], i)));
    else for (const [k, v] of entries) if (this.place.has(k)) visit(k, this.product(v, this.place.get(k)));
  }
}

/** One product for each category, for missing values and for other ones. */
class Levels {
  constructor(levels, program) {
    this.columns = levels.map((t) => {
      fields(t, "a level", { input: "whole!", missing: "flag", scale: "list", weights: "list!" });
      const [k] = places([t.input], program.columns.length, "input");
      const text = program.texts.get(k);
      const count = text?.categories.length ?? 0;
      const width = count + Number(t.missing ?? false) + Number(text?.rare ?? false);
      const scale = numbers(t.scale ?? new Array(width).fill(1), "scale", width);
      const own = numbers(t.weights, "weights", width).map((w, i) => Math.fround(1 / scale[i]) * w);
      if (!scale.every((s) => s > 0 && Number.isFinite(Math.fround(1 / s)))) throw refuse("the scales of a level");
      return { k, numeric: !text, terms: own.slice(0, count), missingTerm: t.missing ? own[count] : 0, unknownTerm: text?.rare ? own[width - 1] : 0 };
    });
  }

  each(x, _, visit) {
    for (const c of this.columns) {
      const code = c.numeric ? (x[c.k] === x[c.k] ? UNKNOWN : MISSING) : x[c.k];
      visit(c.k, code >= 0 ? c.terms[code] : code === MISSING ? c.missingTerm : c.unknownTerm);
    }
  }
}

/** Returns the number of elements that are at most x (with after) or below x. */
function search(list, x, after) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (after ? list[middle] <= x : list[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The weights of two neighbouring knots, or that of an atom. */
class Cards {
  constructor(cards, program) {
    this.cards = cards.map((t) => {
      fields(t, "a card", { input: "whole!", knots: "list", atoms: "list", missing: "flag", weights: "list!" });
      const [k] = program.numeric([t.input]);
      const knots = ascending(numbers(t.knots ?? [], "knots"), "knots");
      const atoms = ascending(numbers(t.atoms ?? [], "atoms"), "atoms");
      const ends = [knots[0], knots.at(-1), atoms[0], atoms.at(-1)].filter(isNumber);
      if (knots.length === 1 || ends.length === 0) throw refuse("a card with one knot or without levels");
      const width = knots.length + atoms.length;
      const weights = numbers(t.weights, "weights", width + Number(t.missing ?? false));
      return { k, knots, atoms, weights, missing: t.missing ? width : -1, low: Math.min(...ends), high: Math.max(...ends) };
    });
  }

  /** Sets this.level, the first weight of a value, -1 for none, and returns the fraction of the next one. */
  place(c, x) {
    const { knots, atoms } = c;
    this.level = c.missing;
    if (x !== x) return 0;
    x = Math.min(Math.max(x, c.low), c.high);
    const j = search(atoms, x, false);
    if (j < atoms.length && atoms[j] === x) {
      this.level = knots.length + j;
      return 0;
    }
    if (knots.length === 0) {
      const second = j === 0 || (j < atoms.length && atoms[j] / 2 - x / 2 < x / 2 - atoms[j - 1] / 2);
      this.level = second ? j : j - 1;
      return 0;
    }
    const last = knots.length - 1;
    x = Math.min(Math.max(x, knots[0]), knots[last]);
    const i = search(knots, x, true) - 1;
    this.level = i;
    if (i === last) return 0;
    const [a, b] = [knots[i], knots[i + 1]];
    // 1.5 * 2^28: adding and subtracting it rounds to a multiple of 2^-24, halves to even.
    const f = (b - a < Infinity ? (x - a) / (b - a) : (x / 2 - a / 2) / (b / 2 - a / 2)) + 402653184 - 402653184;
    if (f < 1) return f;
    this.level++;
    return 0;
  }

  each(x, _, visit) {
    for (const c of this.cards) {
      const f = this.place(c, x[c.k]);
      if (this.level >= 0) visit(c.k, (1 - f) * c.weights[this.level]);
      if (f > 0) visit(c.k, f * c.weights[this.level + 1]);
    }
  }
}

/** One weight for each tree: that of the leaf of the row. */
class Trees {
  constructor(t, program) {
    fields(t, "trees", { inputs: "list!", codes: "list", trees: "list!" });
    const inputs = ascending(places(t.inputs, program.columns.length + program.derived.length, "inputs"), "inputs");
    this.codes = (t.codes ?? []).map((c) => {
      fields(c, "codes", { input: "whole!", values: "list!", unknown: "number!" });
      return { k: c.input, values: numbers(c.values, "values", program.texts.get(c.input)?.categories.length ?? -1), unknown: c.unknown };
    });
    const categorical = inputs.filter((k) => program.texts.has(k));
    if (categorical.length !== this.codes.length || categorical.some((k, i) => k !== this.codes[i].k)) throw refuse("codes do not fit the inputs of the trees");
    let count = 0;
    for (const tree of t.trees) {
      fields(tree, "a tree", { ask: "list!", at: "list!", missing_left: "list", mass: "list!", weights: "list!" });
      count += tree.ask.length;
    }
    // Nodes of all trees in preorder: the left side follows its node. A leaf has the input -1, and the place of its weight as next.
    this.input = new Int32Array(count);
    this.at = new Float64Array(count);
    this.next = new Int32Array(count); // the node of the right side
    this.missingLeft = new Uint8Array(count);
    this.roots = [];
    this.mass = []; // by leaf, as weights
    this.weights = [];
    let node = 0;
    for (const tree of t.trees) {
      this.roots.push(node);
      node = this.#readTree(tree, inputs, node);
    }
  }

  #readTree(tree, inputs, node) {
    numbers(tree.at, "at");
    const left = ascending(places(tree.missing_left ?? [], tree.at.length, "missing_left"), "missing_left");
    const open = []; // nodes whose right side is still to come
    let [inner, leaves, listed] = [0, 0, 0];
    for (const [i, ask] of tree.ask.entries()) {
      if (ask !== -1) {
        if (!isPlace(ask, inputs.length) || inner >= tree.at.length) throw refuse("a tree has a wrong node");
        this.input[node] = inputs[ask];
        this.at[node] = tree.at[inner];
        if (left[listed] === inner) {
          this.missingLeft[node] = 1;
          listed++;
        }
        inner++;
        open.push(node++);
        continue;
      }
      this.input[node] = -1;
      this.next[node++] = this.mass.length + leaves++;
      if (open.length > 0) this.next[open.pop()] = node;
      else if (i !== tree.ask.length - 1) throw refuse("a tree has nodes after its last leaf");
    }
    if (leaves !== inner + 1 || inner !== tree.at.length || !numbers(tree.mass, "mass", leaves).every((m) => m > 0)) throw refuse("a tree is not complete");
    for (const m of tree.mass) this.mass.push(m);
    for (const w of numbers(tree.weights, "weights", leaves)) this.weights.push(w);
    return node;
  }

  /** Returns the values that the nodes test. */
  #values(x) {
    if (this.codes.length === 0) return x;
    x = x.slice();
    for (const { k, values, unknown } of this.codes) x[k] = x[k] >= 0 ? values[x[k]] : x[k] === UNKNOWN ? unknown : NaN;
    return x;
  }

  #child(i, v) {
    return v <= this.at[i] || (v !== v && this.missingLeft[i] === 1) ? i + 1 : this.next[i];
  }

  each(x, _, visit) {
    x = this.#values(x);
    for (let i of this.roots) {
      while (this.input[i] >= 0) i = this.#child(i, x[this.input[i]]);
      visit(-1, this.weights[this.next[i]]);
    }
  }

  /** Adds to each input what the steps that test it change in the mean weight. Returns rest plus the means of the roots. */
  divideSteps(x, adds, rest) {
    x = this.#values(x);
    this.means ??= this.#means();
    for (let i of this.roots) {
      rest += this.means[i];
      while (this.input[i] >= 0) {
        const child = this.#child(i, x[this.input[i]]);
        adds[this.input[i]] += this.means[child] - this.means[i];
        i = child;
      }
    }
    return rest;
  }

  /** Returns for each node the mean of the weights of the leaves below it, weighted by their mass in training. */
  #means() {
    const means = new Float64Array(this.input.length);
    const masses = new Float64Array(this.input.length);
    for (let i = means.length - 1; i >= 0; i--) {
      if (this.input[i] < 0) {
        [means[i], masses[i]] = [this.weights[this.next[i]], this.mass[this.next[i]]];
        continue;
      }
      const [left, right] = [i + 1, this.next[i]];
      masses[i] = masses[left] + masses[right];
      means[i] = means[left] + (means[right] - means[left]) * (masses[right] / masses[i]);
    }
    return means;
  }
}

const TERMS = new Map(Object.entries({ numbers: Numbers, levels: Levels, cards: Cards, trees: Trees }));

/** The program of a model file. */
class Program {
  constructor(f, columns, sparse) {
    fields(f, "program", { missing: "text!", columns: "list!", fill: "list", texts: "list", derived: "list", terms: "list!", offset: "number!", named: "list", known: "list" });
    if (!["error", "median", "zero", "indicator"].includes(f.missing)) throw refuse(`the policy ${quote(f.missing)} for missing values`);
    this.sparse = sparse;
    this.offset = f.offset;
    this.columns = ascending(places(f.columns, sparse ? 2 ** 32 : columns.length, "columns"), "columns");
    this.texts = new Map();
    for (const t of f.texts ?? []) {
      fields(t, "a text", { input: "whole!", categories: "list!", rare: "flag" });
      if (sparse || !t.categories.every(TESTS.text) || new Set(t.categories).size !== t.categories.length) throw refuse("wrong categories");
      this.texts.set(t.input, t);
    }
    const n = this.columns.length;
    const fill = numbers(f.fill ?? new Array(n).fill(0), "fill", n);
    this.name = (k) => (sparse ? `index ${this.columns[k] + 1}` : columns[this.columns[k]].name);
    if (!sparse) {
      this.columns.forEach((place, k) => {
        if (columns[place].numeric === this.texts.has(k)) throw refuse(`column ${quote(columns[place].name)} does not fit the schema`);
        columns[place].use(k, this.texts.get(k), f.missing, fill[k]);
      });
    }
    this.derived = (f.derived ?? []).map((d) => {
      fields(d, "a derived column", { op: "text!", a: "whole!", b: "whole!" });
      if (!["-", "*", "/"].includes(d.op)) throw refuse("the operation of a derived column");
      this.numeric([d.a, d.b]);
      return d;
    });
    this.named = places(f.named ?? [...this.columns.keys()], n, "named");
    this.known = new Set([...this.columns, ...places(f.known ?? [], 2 ** 32, "known")].map((i) => i + 1)); // LIBSVM: indices
    this.terms = f.terms.map((term) => {
      const [[kind, t], ...more] = Object.entries(term);
      const Kind = TERMS.get(kind);
      if (!Kind || more.length > 0) throw new ToptauError(`a term of kind ${quote(kind)}`, "a kind that this reader knows", { fix: "use the reader of a newer toptau" });
      return new Kind(t, this);
    });
    if (this.terms.length === 0) throw refuse("no terms");
    this.dense = !sparse || this.terms.some((t) => !(t instanceof Numbers)); // terms read all inputs
  }

  numeric(inputs) {
    if (places(inputs, this.columns.length, "inputs").some((k) => this.texts.has(k))) throw refuse("an input that is not a number");
    return inputs;
  }

  /** Returns the values of the inputs, and of the derived columns after them. */
  derive(x) {
    return this.derived.length === 0 ? x : x.concat(this.derived.map(({ op, a, b }) => derivedValue(op, x[a], x[b])));
  }

  score(x, entries) {
    let z = 0;
    const visit = (_, product) => (z += product);
    x = this.derive(x);
    for (const t of this.terms) t.each(x, entries, visit);
    z += this.offset;
    if (!Number.isFinite(z)) throw new ToptauError("a score that is not finite", "values like those of the training data");
    return z;
  }

  /** Returns what each of named adds to the score, and the rest. */
  divide(x, entries) {
    x = this.derive(x);
    const adds = new Array(this.columns.length + this.derived.length).fill(0);
    for (const t of this.terms) if (!(t instanceof Trees)) t.each(x, entries, (k, product) => (adds[k] += product));
    const named = this.named.length < this.columns.length ? new Set(this.named) : null;
    let rest = 0;
    if (named) for (const [k, product] of adds.entries()) if (k < this.columns.length && !named.has(k)) rest += product;
    for (const t of this.terms) if (t instanceof Trees) rest = t.divideSteps(x, adds, rest);
    for (const [i, { a, b }] of this.derived.entries()) {
      const half = adds[this.columns.length + i] / 2;
      adds[a] += half;
      adds[b] += half;
    }
    return [this.named.map((k) => adds[k]), this.offset + rest];
  }
}

/** Whether a derived column uses a number: 0, or an absolute value from 2^-500 to 2^500. */
const isPart = (x) => x === 0 || (Math.abs(x) >= 2 ** -500 && Math.abs(x) <= 2 ** 500);

/** Returns the value of a derived column, NaN if it is missing. */
function derivedValue(op, a, b) {
  if (!isPart(a) || !isPart(b)) return NaN;
  if (op === "-") return a - b;
  if (op === "*") return a * b;
  return b === 0 ? NaN : a / b;
}

// ---- Probabilities: exp and log as toptau computes them, so that every bit is the same ----

const LN2_HIGH = 2977044471 / 2 ** 32; // log 2 to 32 bits, and the rest
const LN2_LOW = 7382048951581814 / 2 ** 85;
let roots; // 2^(j/32) for j = 0 to 31, each as a number and what is left of it

function rootsOfTwo() {
  const one = 1n << 160n;
  return Array.from({ length: 32 }, (_, j) => {
    let root = 1n << BigInt(j + 32 * 160);
    for (let i = 0; i < 5; i++) root = wholeRoot(root);
    const high = Number(root) / Number(one);
    return [high, Number(root - BigInt(high * Number(one))) / Number(one)];
  });
}

/** Returns the largest whole number whose square is at most n. */
function wholeRoot(n) {
  let x = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const y = (x + n / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
}

function exp(x) {
  if (x !== x) return x;
  if (x > 709.782712893384) return Infinity;
  if (x < -745.1332191019412) return 0;
  if (Math.abs(x) < 2 ** -54) return 1 + x;
  roots ??= rootsOfTwo();
  const n = Math.floor(x * 46.166241308446829 + 0.5); // 32 / log 2
  const high = x - n * (LN2_HIGH / 32);
  const low = n * (LN2_LOW / 32);
  const r = high - low;
  let tail = 1 / 120 + r * (1 / 720);
  tail = 1 / 24 + r * tail;
  tail = 1 / 6 + r * tail;
  tail = 0.5 + r * tail;
  const p = r + (high - r - low + r * r * tail);
  const [a, b] = roots[n & 31];
  const m = a + (b + a * p);
  const k = n >> 5;
  return k > -1022 && k < 1024 ? m * 2 ** k : k >= 1024 ? m * 2 ** (k - 1) * 2 : m * 2 ** (k + 60) * 2 ** -60;
}

/** Returns log((1 + f) 2^k) + c. */
function logOnePlus(f, c, k) {
  const s = f / (2 + f);
  const q = s * s;
  let r = 2 / 21 + q * (2 / 23);
  for (const odd of [19, 17, 15, 13, 11, 9, 7, 5, 3]) r = 2 / odd + q * r;
  r = q * r;
  const half = 0.5 * (f * f);
  const small = s * (half + r) + (k * LN2_LOW + c);
  return k * LN2_HIGH - (half - small - f);
}

/** Writes a positive number as m 2^k with sqrt(1/2) <= m < sqrt(2). */
function split(x) {
  let k = Math.max(-1022, Math.floor(Math.log2(x))) + 1;
  let m = k > 1000 ? (x / 2) / 2 ** (k - 1) : x / 2 ** k;
  while (m >= 1) [m, k] = [m / 2, k + 1];
  while (m < 0.5) [m, k] = [m * 2, k - 1];
  return m < Math.SQRT2 / 2 ? [m * 2, k - 1] : [m, k];
}

function log(x) {
  if (!(x > 0 && x < Infinity)) return x === 0 ? -Infinity : x > 0 ? x : NaN;
  const [m, k] = split(x);
  return logOnePlus(m - 1, 0, k);
}

/** Returns log(1 + x) for x from 0 to 1. */
function log1p(x) {
  if (x < 2 ** -54) return x;
  if (x < 0.41) return logOnePlus(x, 0, 0);
  const u = 1 + x;
  const lost = x < 1 ? x - (u - 1) : 1 - (u - x);
  const [m, k] = split(u);
  return logOnePlus(m - 1, lost / u, k);
}

const softplus = (u) => Math.max(u, 0) + log1p(exp(-Math.abs(u)));

/** The probability that a row with a score is positive. */
class Probability {
  constructor(p) {
    fields(p, "probability", { method: "text!", knots: "list", middle: "number!", scale: "number!", a: "number!", b: "number!", c: "number!", prevalence: "number!",
                               rows: "whole", positives: "whole", source: "text", reliability: "list" });
    Object.assign(this, { middle: p.middle, scale: p.scale, a: p.a, b: p.b, c: p.c, prevalence: p.prevalence, knots: p.knots ?? [] });
    for (const k of this.knots) fields(k, "a knot", { score: "number!", probability: "number!" });
    this.scores = ascending(this.knots.map((k) => k.score), "knots");
    ascending([0, ...this.knots.map((k) => k.probability), 1], "probabilities of knots");
    if (!["beta", "isotonic"].includes(p.method) || (p.method === "isotonic") !== this.knots.length > 0 || !(p.scale > 0) ||
        !(p.prevalence > 0 && p.prevalence < 1) || p.a < 0 || p.b < 0) {
      throw refuse("probabilities that toptau does not write");
    }
  }

  at(score, prevalence) {
    let x;
    if (this.knots.length > 0) {
      const i = search(this.scores, score, true);
      const [a, b] = [this.knots[Math.max(i - 1, 0)], this.knots[Math.min(i, this.knots.length - 1)]];
      const p = a === b ? a.probability : a.probability + (b.probability - a.probability) * ((score - a.score) / (b.score - a.score));
      x = log(p / (1 - p));
    } else {
      const u = (score - this.middle) / this.scale;
      x = this.a * -softplus(-u) + this.b * softplus(u) + this.c;
    }
    if (prevalence !== undefined) x += log(prevalence / (1 - prevalence)) - log(this.prevalence / (1 - this.prevalence));
    if (x >= 0) return 1 / (1 + exp(-x));
    const e = exp(x);
    return e / (1 + e);
  }
}

// ---- The model file ----

// The top-level fields in their order: the name, whether each element has a line, whether it must be there.
const TOP = [
  ["schema", false, true], ["features", false, true], ["program", false, true], ["digest", false, true], ["points", true, true],
  ["history", true, false], ["members", true, true], ["training", false, true], ["fingerprints", false, false],
  ["averages", false, false], ["probability", false, false], ["profile", false, false], ["reference", false, false],
  ["probes", true, true], ["signature", false, false],
];
const TAIL = /^"checksum": "sha256:([0-9a-f]{64})"\n\}\n$/;
const TAIL_SIZE = '"checksum": "sha256:'.length + 64 + '"\n}\n'.length;

/** Checks the version of a model file, from its first bytes. */
function checkVersion(text) {
  const match = /^\{\n"toptau_model": ([1-9][0-9]{0,8}),\n/.exec(text);
  if (!match) throw new ToptauError(text === "" ? "an empty file, not a toptau model" : "not a toptau model", "a file that toptau train or fit wrote");
  if (Number(match[1]) !== FORMAT) throw new ToptauError(`format ${match[1]}, this reader reads format ${FORMAT}`, "", { fix: "use the reader of the toptau that wrote it" });
}

// eslint-disable-next-line no-control-regex
const escaped = (text) => text.replace(/[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const withoutNegativeZero = (text) => text.replace(/([[:,])-0(?=[,\]}]|$)/g, "$10").replace(/^-0$/, "0");

/** Parses a value. exact refuses text that differs from what toptau writes for it; numbers above 2^53 occur elsewhere. */
function parseValue(text, exact) {
  const value = JSON.parse(text);
  const again = escaped(JSON.stringify(value));
  if (exact && again !== text && withoutNegativeZero(again) !== withoutNegativeZero(text)) throw refuse("not in the form that toptau writes");
  return value;
}

/** Checks checksum and form of a model file and returns its fields. */
function parseFile(bytes) {
  const decode = (part) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(part);
  checkVersion(new TextDecoder("latin1").decode(bytes.subarray(0, 64)));
  const body = bytes.subarray(0, Math.max(0, bytes.length - TAIL_SIZE));
  const tail = TAIL.exec(new TextDecoder("latin1").decode(bytes.subarray(body.length)));
  if (!tail) throw refuse("the end is missing");
  const lines = decode(body).split("\n");
  const [digest, checksum] = sha256Of(body, [new TextEncoder().encode(lines.slice(0, 5).join("\n") + "\n").length, body.length]);
  if (checksum !== tail[1]) throw refuse("the checksum does not match the content");
  let boxes = 0;
  for (const b of body) if (b === 0x7b || b === 0x5b) boxes++;
  if (boxes > 2 ** 20 && body.length < 10 * boxes) throw refuse("more lists and objects than a model has");
  let i = 2;
  const line = () => {
    if (i >= lines.length) throw refuse("the end is missing");
    return lines[i];
  };
  const found = {};
  for (const [name, listed, required] of TOP) {
    const start = `"${name}": `;
    const exact = name !== "training" && name !== "members";
    if (!line().startsWith(start)) {
      if (required) throw refuse(`no field ${name}`);
      continue;
    }
    if (!listed) {
      if (!line().endsWith(",")) throw refuse(`the form of ${name}`);
      found[name] = parseValue(line().slice(start.length, -1), exact);
      i++;
      continue;
    }
    if (line() !== start + "[") throw refuse(`the form of ${name}`);
    found[name] = [];
    for (i++; line() !== "],"; i++) {
      const last = !line().endsWith(",");
      found[name].push(parseValue(last ? line() : line().slice(0, -1), exact));
      if (last !== (lines[i + 1] === "],")) throw refuse(`the form of ${name}`);
    }
    i++;
  }
  if (found.digest !== "sha256:" + digest) throw refuse("schema, features and program do not belong together");
  if (line() !== "" || i !== lines.length - 1) throw refuse(`an unknown field ${quote(line())}`);
  return { ...found, digest: "sha256:" + tail[1] };
}

// ---- The model ----

/**
 * An operating point: the decision is score > threshold.
 * @typedef {object} Point
 * @property {string} name
 * @property {number} threshold
 * @property {object|null} goal what the threshold is for
 * @property {string} source how it was computed, and from which rows
 * @property {object|null} guarantee its evidence, if it has a guarantee
 * @property {string} segment the column whose values have thresholds of their own, "" without one
 * @property {Map<string, number>} segments these thresholds; other values use threshold
 * @property {string} entity the budget counts the values of this column instead of rows
 * @property {string} day and each of them once on each day of this column
 */

/**
 * A score, divided among the columns: offset, plus what the reasons add in their order, plus rounding.
 * @typedef {object} Explanation
 * @property {number} score
 * @property {{column: string, value: string, adds: number, aboveAverage: number}[]} reasons the largest difference to the average row first
 * @property {number|null} averageScore the mean score of the training rows, if the model keeps it
 * @property {number} offset what belongs to no column
 * @property {number} rounding score less the sum of the offset and what the reasons add
 * @property {string[]} missing columns whose value is missing
 * @property {string[]} unknown columns with a value that training did not have
 */

/** A model file. It does not change. */
export class Model {
  /** @type {string} "sha256:" and the SHA-256 of the model */
  digest;
  /** @type {string[]} the columns that a record must have; empty for LIBSVM data, which have indices */
  columns;
  /** @type {Point[]} the operating points, the default first */
  points = [];

  #program;
  #schema; // Column for each feature column of the training file
  #sparse;
  #places = new Map(); // LIBSVM: the input of an index
  #averages = null;
  #probability = null;

  /**
   * Reads a model from a path (Node.js) or an address (fetch).
   * @param {string|URL} source
   * @param {{maxBytes?: number}} [options]
   * @returns {Promise<Model>}
   * @throws {ToptauError} the file cannot be read, is no model, was edited or damaged, or needs a newer reader
   */
  static async load(source, options = {}) {
    const address = source instanceof URL ? source : /^[a-z][a-z0-9+.-]+:/i.test(source) ? new URL(source) : null;
    const inNode = typeof process !== "undefined" && process.versions?.node !== undefined;
    let bytes;
    try {
      if (inNode && (address === null || address.protocol === "file:")) {
        const { open } = await import("node:fs/promises");
        const file = await open(address ?? source);
        try {
          bytes = await readBounded(file, options.maxBytes ?? MAX_BYTES);
        } finally {
          await file.close();
        }
      } else {
        const answer = await fetch(source);
        if (!answer.ok) throw new Error(`status ${answer.status}`);
        bytes = new Uint8Array(await answer.arrayBuffer());
      }
    } catch (e) {
      if (e instanceof ToptauError) throw e.at({ file: String(source) });
      throw new ToptauError("the model cannot be read", "", { file: String(source), fix: e.message });
    }
    return Model.parse(bytes, { name: String(source), ...options });
  }

  /**
   * Returns the model of a file's content.
   * @param {Uint8Array|ArrayBuffer|string} content
   * @param {{name?: string, maxBytes?: number}} [options] name names the file in errors
   * @returns {Model}
   */
  static parse(content, { name = "model", maxBytes = MAX_BYTES } = {}) {
    try {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content instanceof ArrayBuffer ? new Uint8Array(content) : content;
      if (!(bytes instanceof Uint8Array)) throw new ToptauError(`a content of type ${typeof content}`, "bytes or a text");
      if (bytes.length > maxBytes) throw tooLong(maxBytes);
      return new Model(parseFile(bytes));
    } catch (e) {
      throw (e instanceof ToptauError ? e : refuse(e.message.slice(0, 200))).at({ file: name });
    }
  }

  /** @private */
  constructor(f) {
    const schema = fields(f.schema, "schema", { format: "text!", header: "flag!", width: "whole!", columns: "list", label: "object", positive: "list", labels: "list", other_labels: "whole", missing: "list",
                                                others: "list", id: "list", group: "text", time: "text", timezone: "text", decimal: "text" });
    if (!["", ".", ","].includes(schema.decimal ?? "")) throw refuse("the decimal mark");
    const missing = schema.missing ?? [];
    if (!missing.every(TESTS.text)) throw refuse("spellings of missing values");
    this.digest = f.digest;
    this.#schema = (schema.columns ?? []).map((c) => {
      fields(c, "a column", { name: "text!", number: "whole!", kind: "text!", part: "text", source: "text", origin: "number", salt: "text", unit: "text" });
      const known = c.kind === "numeric" ? NUMERIC_PARTS : TEXT_PARTS;
      if (!["numeric", "categorical"].includes(c.kind) || (c.kind === "numeric" && "salt" in c) || ("unit" in c && (c.kind !== "numeric" || "part" in c || !UNITS.includes(c.unit))) || "part" in c !== "source" in c || ("part" in c && !known.includes(c.part))) {
        throw refuse(`column ${quote(c.name)} of the schema`);
      }
      return new Column(c, missing, schema.decimal ?? "");
    });
    if (new Set(this.#schema.map((c) => c.name)).size !== this.#schema.length) throw refuse("two columns of one name");
    this.columns = [...new Set(this.#schema.map((c) => c.source))];
    this.#sparse = schema.format === "libsvm";
    if (this.#sparse && this.#schema.length > 0) throw refuse("columns of indices");
    const program = (this.#program = new Program(f.program, this.#schema, this.#sparse));
    if (this.#sparse) program.columns.forEach((i, k) => this.#places.set(i + 1, k));
    if (f.averages) {
      this.#averages = fields(f.averages, "averages", { rows: "whole!", score: "number!", adds: "list!" });
      if (numbers(this.#averages.adds, "adds").length !== program.named.length) throw refuse("averages do not fit the inputs");
    }
    if (f.probability) this.#probability = new Probability(f.probability);
    for (const p of f.points) this.#addPoint(p);
    this.#checkProbes(f.probes);
  }

  #addPoint(p) {
    fields(p, "a point", { name: "text!", threshold: "number!", goal: "any", source: "text", guarantee: "object", negatives: "object", segment: "text", segments: "list", segments_delta: "text", entity: "text", day: "text", up_to: "number" });
    if (!((p.up_to ?? 0) >= 0 && (p.up_to ?? 0) <= 1)) throw refuse(`a point with a rate up to ${p.up_to}`);
    const segments = new Map();
    for (const s of p.segments ?? []) {
      fields(s, "a segment", { value: "text!", threshold: "number!", guarantee: "object" });
      segments.set(s.value, s.threshold);
    }
    if (p.name === "" || this.points.some((q) => q.name === p.name)) throw refuse(`two points of the name ${quote(p.name)}, or none`);
    this.points.push(Object.freeze({ name: p.name, threshold: p.threshold, goal: p.goal ?? null, source: p.source ?? "", guarantee: p.guarantee ?? null,
                                     segment: p.segment ?? "", segments, entity: p.entity ?? "", day: p.day ?? "" }));
  }

  #checkProbes(probes) {
    if (probes.length < 1 || probes.length > 64) throw refuse(`${probes.length} probe rows`); // toptau writes 8; a bound on the time that loading takes
    for (const [i, probe] of probes.entries()) {
      fields(probe, "a probe row", { fields: "list!", score: "number!" });
      if (!probe.fields.every(TESTS.text)) throw refuse("a probe row that is not text");
      let score;
      if (this.#sparse) {
        score = this.#program.score(...this.#inputsOf(this.#entries(new Map(probe.fields.map((field) => field.split(":"))))));
      } else {
        if (probe.fields.length !== this.#schema.length) throw refuse("a probe row of another length");
        const values = this.#schema.map((c, j) => c.probe(probe.fields[j]));
        score = this.#program.score(this.#program.columns.map((j) => values[j]), []);
      }
      if (score !== probe.score) throw refuse(`probe row ${i + 1} scores ${score}, the file says ${probe.score}`);
    }
  }

  /** Whether the model has probabilities. */
  get hasProbability() {
    return this.#probability !== null;
  }

  /**
   * Returns the score of one record.
   * @param {object|Array|Map} record by column, or the values in the order of columns
   * @returns {number}
   * @throws {ToptauError} a column is absent, a number is not a number, or a value is missing that must be there
   */
  score(record) {
    return this.#program.score(...this.#read(record));
  }

  /** Returns the values of the inputs and, for LIBSVM data, those that are not 0 with their inputs. */
  #read(record) {
    if (this.#sparse) return this.#inputsOf(this.#entries(record));
    const values = this.#values(record);
    const read = this.#schema.map((c, j) => c.read(values[j]));
    return [this.#program.columns.map((j) => read[j]), []];
  }

  /** Returns the values of a record in the order of the schema. */
  #values(record) {
    let byName = (name) => valueOf(record, name);
    if (isList(record)) {
      if (record.length !== this.columns.length) {
        throw new ToptauError(`rows of ${record.length} values`, `${this.columns.length}, one for each of columns`, { fix: "or rows by name: objects" });
      }
      const places = new Map(this.columns.map((name, j) => [name, record[j]]));
      byName = (name) => places.get(name);
    } else if (typeof record !== "object" || record === null) {
      throw new ToptauError(`a row of type ${typeof record}`, "an object by column, or a list of values");
    }
    let values = this.#schema.map((c) => byName(c.source));
    if (values.includes(undefined) && !isList(record)) {
      record = trimmed(record);
      values = this.#schema.map((c) => byName(c.source));
    }
    if (values.includes(undefined)) {
      const needed = new Set(this.#schema.filter((c) => c.input >= 0).map((c) => c.source));
      const absent = [...needed].filter((name) => byName(name) === undefined);
      if (absent.length === 0) return values.map((v) => v ?? null); // those without a weight
      const more = absent.length > 20 ? ` and ${absent.length - 20} more` : "";
      throw new ToptauError(`rows without ${absent.slice(0, 20).map(quote).join(", ")}${more}`, `the ${needed.size} columns that the model needs`);
    }
    return values;
  }

  /** Returns the entries of a LIBSVM record in the order of their indices, which count from 1. */
  #entries(record) {
    const pairs = isList(record) ? Array.from(record, (x, i) => [i + 1, x]) : record instanceof Map ? [...record] : Object.entries(record);
    const entries = pairs.map(([key, value]) => {
      const text = String(key).replace(/^index /, "");
      if (!/^[0-9]{1,20}$/.test(text) || !(Number(text) > 0 && Number(text) < 2 ** 32)) throw new ToptauError(quote(key), "an index from 1");
      const x = typeof value === "string" ? parseNumber(value) : typeof value === "boolean" || typeof value === "bigint" ? Number(value) : value;
      if (!Number.isFinite(x)) throw new ToptauError(quote(value), "a finite number", { column: `index ${text}` });
      return [Number(text), x];
    });
    entries.sort((a, b) => a[0] - b[0]);
    for (let i = 1; i < entries.length; i++) {
      if (entries[i][0] === entries[i - 1][0]) throw new ToptauError(`index ${entries[i][0]} twice`, "each index at most once");
    }
    return entries;
  }

  #inputsOf(entries) {
    const x = this.#program.dense ? new Array(this.#places.size).fill(0) : [];
    const found = entries.filter(([index, v]) => v !== 0 && this.#places.has(index)).map(([index, v]) => [this.#places.get(index), v]);
    if (this.#program.dense) for (const [k, v] of found) x[k] = v;
    return [x, found];
  }

  /**
   * Returns the score of each row.
   * @param {Iterable<object|Array>} rows
   * @returns {Float64Array}
   */
  decisionFunction(rows) {
    return Float64Array.from(eachRow(rows, (record) => this.score(record)));
  }

  /**
   * Returns for each row whether its score is above the threshold of an operating point.
   * @param {Iterable<object|Array>} rows a point with segments reads their column, too
   * @param {{at?: string}} [options] at is the name of the point; without it, it is the default one
   * @returns {boolean[]}
   */
  predict(rows, { at } = {}) {
    const point = this.point(at);
    return eachRow(rows, (record) => {
      const score = this.score(record);
      if (point.segments.size === 0) return score > point.threshold;
      let value = valueOf(record, point.segment) ?? valueOf(trimmed(record), point.segment);
      if (isList(record)) value = this.columns.includes(point.segment) ? record[this.columns.indexOf(point.segment)] : undefined;
      if (value === undefined) throw new ToptauError(`rows without ${quote(point.segment)}`, "the column of the segments");
      return score > (point.segments.get(trimBlanks(textOf(value))) ?? point.threshold);
    });
  }

  /**
   * Returns the operating point of a name, without one the default.
   * @param {string} [at]
   * @returns {Point}
   */
  point(at) {
    const found = at === undefined ? this.points[0] : this.points.find((p) => p.name === at);
    if (found) return found;
    if (this.points.length === 0) throw new ToptauError("a model without an operating point", "at least one");
    throw new ToptauError(quote(at), "one of its operating points: " + this.points.map((p) => quote(p.name)).join(", "));
  }

  /**
   * Returns for each row the probability that it is positive.
   * @param {Iterable<object|Array>} rows
   * @param {{prevalence?: number}} [options] the fraction of positives among the rows that it assumes; without it, that of training
   * @returns {Float64Array}
   */
  probability(rows, { prevalence } = {}) {
    if (!this.#probability) throw new ToptauError("a model without probabilities", "a model of train, with 20 held-out rows of each class");
    if (prevalence !== undefined && !(prevalence > 0 && prevalence < 1)) throw new ToptauError(`a prevalence of ${prevalence}`, "a fraction between 0 and 1");
    return this.decisionFunction(rows).map((z) => this.#probability.at(z, prevalence));
  }

  /**
   * Returns what each column adds to the score of one record, as `toptau explain` does.
   * @param {object|Array|Map} record
   * @returns {Explanation}
   */
  explain(record) {
    const [x, entries] = this.#read(record);
    const program = this.#program;
    const score = program.score(x, entries);
    const [adds, offset] = program.divide(x, entries);
    const missing = [];
    const unknown = [];
    let texts;
    if (this.#sparse) {
      const values = new Map(this.#entries(record));
      if ([...values].some(([i, v]) => v !== 0 && !program.known.has(i))) unknown.push("index");
      texts = program.named.map((k) => plain(values.get(program.columns[k] + 1) ?? 0));
    } else {
      const values = this.#values(record);
      texts = program.columns.map((j) => {
        const c = this.#schema[j];
        const value = c.numeric ? c.number(values[j]) : c.category(values[j]);
        const text = value === null || value !== value ? null : c.numeric ? plain(value) : value;
        if (text === null) missing.push(c.name);
        else if (!c.numeric && !c.categories.has(text) && !c.rare) unknown.push(c.name);
        return text ?? "";
      });
    }
    const reasons = [];
    program.named.forEach((k, j) => {
      const aboveAverage = adds[j] - (this.#averages?.adds[j] ?? 0);
      if (adds[j] !== 0 || aboveAverage !== 0) reasons.push({ column: program.name(k), value: texts[j], adds: adds[j], aboveAverage });
    });
    reasons.sort((a, b) => Math.abs(b.aboveAverage) - Math.abs(a.aboveAverage));
    const total = reasons.reduce((sum, r) => sum + r.adds, offset);
    return { score, reasons, averageScore: this.#averages?.score ?? null, offset, rounding: score - total, missing, unknown };
  }
}

const tooLong = (maxBytes) => new ToptauError(`a file of more than ${maxBytes} bytes`, "a model", { fix: "set maxBytes higher" });

/** Reads an open file. A file of another kind is refused after its first bytes. */
async function readBounded(file, maxBytes) {
  const head = new Uint8Array(64);
  const { bytesRead } = await file.read(head, 0, 64, null);
  checkVersion(new TextDecoder("latin1").decode(head.subarray(0, bytesRead)));
  const chunks = [head.subarray(0, bytesRead)];
  let length = bytesRead;
  for (;;) {
    const chunk = new Uint8Array(1 << 20);
    const { bytesRead: n } = await file.read(chunk, 0, chunk.length, null);
    if (n === 0) break;
    chunks.push(chunk.subarray(0, n));
    length += n;
    if (length > maxBytes) throw tooLong(maxBytes);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

const isList = (record) => Array.isArray(record) || ArrayBuffer.isView(record);

/** Returns a value by name, or by a path of names with dots, as in JSON lines; undefined if it is absent. */
function valueOf(record, name) {
  if (record instanceof Map) return record.get(name);
  if (Object.hasOwn(record, name)) return record[name];
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const head = name.slice(0, dot);
    if (Object.hasOwn(record, head) && TESTS.object(record[head])) return valueOf(record[head], name.slice(dot + 1));
  }
  return undefined;
}

/** Returns a record whose names, those with dots, have no blanks at their ends, as names of a file. */
function trimmed(record) {
  const entries = paths(record, "");
  return entries.some(([path]) => path !== trimBlanks(path)) ? new Map(entries.map(([path, value]) => [trimBlanks(path), value])) : record;
}

function paths(record, before) {
  const pairs = record instanceof Map ? [...record] : Object.entries(record);
  const isNested = (value) => TESTS.object(value) && Object.keys(value).length > 0; // a Date has no keys
  return pairs.flatMap(([name, value]) => (isNested(value) ? paths(value, `${before}${name}.`) : [[`${before}${name}`, value]]));
}

/** Returns what a function returns for each row. Errors name the row, from 1. */
function eachRow(rows, apply) {
  if (typeof rows?.[Symbol.iterator] !== "function" || typeof rows === "string") {
    throw new ToptauError(`rows of type ${typeof rows}`, "a list of rows; one record: [record]");
  }
  const out = [];
  for (const record of rows) {
    try {
      out.push(apply(record));
    } catch (e) {
      throw e instanceof ToptauError ? e.at({ row: out.length + 1 }) : e;
    }
  }
  return out;
}
