import type { Metrics } from '@coplay/core';

// Protocol buffers, as far as TensorBoard's events need them: event.proto and summary.proto of TensorFlow.
// A field is its key, (number << 3) | wire type, and its value.
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** SessionLog.SessionStatus.START */
const SESSION_START = 1;

/** The event that every file begins with. @param wallTime seconds since 1970 */
export function versionEvent(wallTime: number): Uint8Array {
  return event(wallTime, 0, bytesField(3, Buffer.from('brain.Event:2')));
}

/** Tells TensorBoard that a session begins: values at `step` and later, in files before this one, are void. */
export function sessionStartEvent(wallTime: number, step: number): Uint8Array {
  return event(wallTime, step, bytesField(7, varintField(1, SESSION_START)));
}

/** Scalars of one step. Values are stored as float32. */
export function scalarEvent(wallTime: number, step: number, metrics: Metrics): Uint8Array {
  const values = Object.entries(metrics).map(([tag, value]) =>
    bytesField(1, Buffer.concat([bytesField(1, Buffer.from(tag)), floatField(2, value)])),
  );
  return event(wallTime, step, bytesField(5, Buffer.concat(values)));
}

function event(wallTime: number, step: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([doubleField(1, wallTime), varintField(2, step), content]);
}

function varintField(number: number, value: number): Uint8Array {
  return Uint8Array.from([(number << 3) | VARINT, ...varint(value)]);
}

function bytesField(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.from([(number << 3) | BYTES, ...varint(bytes.length)]), bytes]);
}

function doubleField(number: number, value: number): Uint8Array {
  const field = new Uint8Array(9);
  field[0] = (number << 3) | FIXED64;
  new DataView(field.buffer).setFloat64(1, value, true);
  return field;
}

function floatField(number: number, value: number): Uint8Array {
  const field = new Uint8Array(5);
  field[0] = (number << 3) | FIXED32;
  new DataView(field.buffer).setFloat32(1, value, true);
  return field;
}

/** Seven bits a byte, the lowest first. By division: steps may pass 2^31. @param value an integer in [0, 2^53) */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return bytes;
}
