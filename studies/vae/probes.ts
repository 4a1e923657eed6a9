import { createGenerator, type Game } from '@coplay/core';
import { linearProbe, type ProbeResult } from '@coplay/diagnostics';
import type { OmgLearner } from '@coplay/trainers';
import { episodeNumbers, type Play } from './data';

/** What linear probes tell of the goal that was reached in hindsight, from what. */
export type Probes = Readonly<Record<'state' | 'inferred' | 'selected', ProbeResult>>;

/** Probes of a trained learner of the first seat, on play that it wasn't trained on. */
export async function probesOf(omg: OmgLearner, game: Game, test: Play): Promise<Probes> {
  const { experience, returns } = test;
  const shape = [experience.envs, experience.steps, game.agents.length, omg.subgoalSize];
  const none = { data: new Float32Array(experience.rewards.length * omg.subgoalSize), shape };
  const withSubgoals = { ...experience, extras: { ...experience.extras, subgoals: none } };
  const generator = createGenerator(1);
  const { subgoals, replaced } = await omg.subgoalsOf(withSubgoals, { values: returns, epsilon: 1, generator });
  const tell = (latents: Float32Array, isWanted: (row: number) => boolean = () => true) =>
    probe(test, latents, omg.goalDim, isWanted);
  return {
    state: tell(await omg.latentsOf(experience)),
    inferred: tell(await omg.inferOver(experience)),
    selected: tell(subgoals, (row) => replaced[row] === 1),
  };
}

/** The same probe on the co-players' raw observations. */
export function probeOfViews(test: Play): ProbeResult {
  const { observations, masks, agents, actionCount } = test.experience;
  const others = agents.length - 1;
  const rows = observations['time'].length / agents.length;
  const cells = observations['planes'].length / observations['time'].length;
  const width = cells + 1 + actionCount;
  const features = new Float32Array(rows * others * width);
  for (let row = 0; row < rows * others; row++) {
    const from = Math.floor(row / others) * agents.length + 1 + (row % others);
    features.set(observations['planes'].subarray(from * cells, (from + 1) * cells), row * width);
    features[row * width + cells] = observations['time'][from];
    features.set(masks.subarray(from * actionCount, (from + 1) * actionCount), row * width + cells + 1);
  }
  return probe(test, features, width);
}

/** @param latents  [E, T, A-1, size] of the co-players of seat 0 */
function probe(
  { experience, goals }: Play,
  latents: Float32Array,
  size: number,
  isWanted: (row: number) => boolean = () => true,
): ProbeResult {
  const { agents, active } = experience;
  const others = agents.length - 1;
  const episodes = episodeNumbers(experience);
  const kept: { from: number; label: number; group: number }[] = [];
  for (let row = 0; row < episodes.length; row++) {
    for (let i = 0; i < others && isWanted(row); i++) {
      const at = row * agents.length + 1 + i;
      if (active[at] === 1 && goals[at] >= 0) {
        kept.push({ from: row * others + i, label: goals[at], group: episodes[row] });
      }
    }
  }
  const features = new Float32Array(kept.length * size);
  kept.forEach(({ from }, i) => {
    features.set(latents.subarray(from * size, (from + 1) * size), i * size);
  });
  const data = { features, labels: kept.map(({ label }) => label), groups: kept.map(({ group }) => group) };
  return linearProbe(data, { classes: 2 }, createGenerator(2));
}
