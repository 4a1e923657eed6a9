import { type Agent, type AgentId, fail, type Game } from '@coplay/core';
import { type OnnxSession, type OnnxTensorClass, onnxAgent } from '../../src/play/onnx-agent';
import type { PlayPolicy } from '../../src/play/play-page';

/** The part of onnxruntime-web that is used. */
interface Runtime {
  readonly env: { readonly wasm: { wasmPaths?: string; numThreads?: number } };
  readonly InferenceSession: { create(file: Uint8Array): Promise<OnnxSession> };
  readonly Tensor: OnnxTensorClass;
}

let runtime: Promise<Runtime> | undefined;
const sessions = new Map<string, Promise<OnnxSession>>();

/**
 * An agent that plays a policy of the server. Files are loaded once.
 *
 * @param ort  address of the folder with onnxruntime-web's files
 * @throws CoplayError where files can't be loaded
 */
export async function policyAgent(ort: string, game: Game, id: AgentId, { name, url }: PlayPolicy): Promise<Agent> {
  runtime ??= load(new URL(ort, location.href).href);
  const { InferenceSession, Tensor } = await runtime;
  let session = sessions.get(url);
  if (!session) {
    session = bytesOf(url).then((file) => InferenceSession.create(file));
    sessions.set(url, session);
  }
  return onnxAgent({ game, id, session: await session, Tensor, name });
}

async function load(folder: string): Promise<Runtime> {
  try {
    const ort = (await import(`${folder}ort.wasm.min.mjs`)) as Runtime;
    ort.env.wasm.wasmPaths = folder;
    // Networks this small gain nothing from threads, which would need a page that's isolated from others.
    ort.env.wasm.numThreads = 1;
    return ort;
  } catch (error) {
    const remedy = 'Serve the folder dist of the npm package onnxruntime-web there.';
    return fail('the page', `onnxruntime-web at ${folder}`, (error as Error).message, remedy);
  }
}

async function bytesOf(url: string): Promise<Uint8Array> {
  const answer = await fetch(url);
  if (!answer.ok) fail('the page', `a policy at ${url}`, `${answer.status}`, 'Start the server again.');
  return new Uint8Array(await answer.arrayBuffer());
}
