import fc from 'fast-check';
import type { ReferenceOptions } from './reference-stag-hunt';

/** Random settings of the stag hunt in which everything has a cell. */
export const settings: fc.Arbitrary<ReferenceOptions> = fc
  .record({
    size: fc.constantFrom(1, 2, 3, 3, 4, 4, 5, 7),
    agents: fc.integer({ min: 1, max: 8 }),
    stags: fc.integer({ min: 0, max: 3 }),
    hares: fc.integer({ min: 0, max: 5 }),
    maxSteps: fc.integer({ min: 1, max: 40 }),
    stagReward: fc.constantFrom(10, 7.5, -2, 0),
    hareReward: fc.constantFrom(1, 3, 0),
    stepReward: fc.constantFrom(0, 0, -0.25),
    obstaclePieces: fc.integer({ min: 0, max: 3 }),
    strengths: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 8, maxLength: 8 }),
    stagNeedsPartner: fc.boolean(),
    preyMoves: fc.constantFrom(0, 0, 0.3, 1),
    stepsAfterFirstHunt: fc.constantFrom(false as const, false as const, 1, 4),
    viewRadius: fc.constantFrom(false as const, false as const, 1, 2),
    previousActions: fc.boolean(),
  })
  .map((options) => ({ ...options, strengths: options.strengths.slice(0, options.agents) }))
  .filter(({ size, agents, stags, hares }) => agents + stags + hares <= size * size);
