import type { Metrics } from '@coplay/core';
import { bytesField, doubleField, floatField, varintField } from './protobuf';

// The numbers of fields are those of event.proto and summary.proto of TensorFlow.

/** SessionLog.SessionStatus.START */
const SESSION_START = 1;

/** The event that every file begins with. @param wallTime seconds since 1970 */
export function versionEvent(wallTime: number): Uint8Array {
  return event(wallTime, 0, bytesField(3, 'brain.Event:2'));
}

/** Tells TensorBoard that a session begins: values at `step` and later, in files before this one, are void. */
export function sessionStartEvent(wallTime: number, step: number): Uint8Array {
  return event(wallTime, step, bytesField(7, varintField(1, SESSION_START)));
}

/** Scalars of one step. Values are stored as float32. */
export function scalarEvent(wallTime: number, step: number, metrics: Metrics): Uint8Array {
  const values = Object.entries(metrics).map(([tag, value]) => bytesField(1, bytesField(1, tag), floatField(2, value)));
  return event(wallTime, step, bytesField(5, ...values));
}

function event(wallTime: number, step: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([doubleField(1, wallTime), varintField(2, step), content]);
}
