import { createGenerator, generatorFrom } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Play } from './play';
import { ReferenceStagHunt } from './reference-stag-hunt';
import { settings } from './stag-hunt-arbitrary';

test('every step of whole episodes is that of a second implementation, written from the specification', {
  tags: ['slow'],
}, () => {
  let catches = 0;
  let illegal = 0;
  fc.assert(
    fc.property(settings, fc.nat(), fc.constantFrom(0, 0.1, 1), (options, seed, carelessness) => {
      const chooser = createGenerator(seed);
      const play = new Play(stagHunt(options), chooser.split(1)).start();
      const reference = new ReferenceStagHunt(options, play.game.scene!(play.state, 0));
      compareViews(play, reference);
      while (!play.isOver()) {
        const actions = reference.agents.map((_, i) => choose(reference.legal(i), carelessness, chooser));
        const twin = generatorFrom(play.generator.state());
        const expected = reference.step(actions, twin);
        const wanted = JSON.stringify({ ...expected, rewards: expected.rewards.map(Math.fround) });
        const step = JSON.stringify(play.step(actions));
        if (step !== wanted) expect(step).toBe(wanted);
        expect(play.generator.state()).toEqual(twin.state());
        compareViews(play, reference);
        catches += expected.caughtHare.concat(expected.caughtStag).reduce((sum, one) => sum + one, 0);
        illegal += expected.illegal.reduce((sum, one) => sum + one, 0);
      }
      expect(reference.time).toBeLessThanOrEqual(options.maxSteps);
    }),
    { numRuns: 250 },
  );
  // The comparison means something: plenty was caught and refused on the way.
  expect(catches).toBeGreaterThan(150);
  expect(illegal).toBeGreaterThan(300);
});

/** Prefers to hunt; otherwise a legal action or, with some probability, any. */
function choose(legal: boolean[], carelessness: number, generator: ReturnType<typeof createGenerator>): number {
  if (generator.uniform() < carelessness) return generator.integer(7);
  for (const hunt of [5, 6]) if (legal[hunt] && generator.uniform() < 0.6) return hunt;
  const allowed = legal.flatMap((isLegal, action) => (isLegal ? [action] : []));
  return allowed[generator.integer(allowed.length)];
}

/** Compares masks, activity and observations of every agent. */
function compareViews(play: Play, reference: ReferenceStagHunt): void {
  const { previousActions: hasPrevious, maxSteps } = reference.options;
  reference.agents.forEach((agent, i) => {
    const seen = play.observe(i);
    const ours = [
      seen['planes'],
      seen['time'],
      seen['previousActions'],
      play.mask(i),
      play.game.isActive(play.state, 0, i),
    ];
    const theirs = [
      reference.planes(i).flat(2),
      Math.fround(reference.time / maxSteps),
      hasPrevious ? reference.previousActions(i) : undefined,
      reference.legal(i).map(Number),
      !agent.gone,
    ];
    // An assertion for each of some 10,000 views would take most of the test's time.
    if (ours.join('|') !== theirs.join('|')) expect(ours.join('|')).toBe(theirs.join('|'));
  });
}
