import { fail } from '@coplay/core';
import { exportOnnx } from '@coplay/trainers';
import { answer, command, EXIT, JSON_FLAG, textOf } from '../command';
import { ALLOW_CODE } from '../configuration';
import { policyOf } from './policy';
import { STEP_FLAG, trainedRun } from './trained';

/** `coplay export` */
export const exportCommand = command({
  usage: 'export RUN FILE.onnx [--agent ID]',
  summary: 'Writes the policy of an agent of a run as an ONNX file.',
  words: { least: 2, most: 2 },
  flags: {
    agent: { value: 'ID', what: "whose; default: the game's first agent" },
    value: { what: "with the critic's value as an output too" },
    ...STEP_FLAG,
    ...JSON_FLAG,
    ...ALLOW_CODE,
  },
  async run([directory, file], flags, terminal) {
    const run = await trainedRun(directory, flags, terminal);
    try {
      const id = textOf(flags, 'agent') ?? run.agents[0].id;
      const agent = run.agents.find((one) => one.id === id);
      if (!agent) {
        const ids = run.agents.map((one) => one.id).join(', ');
        return fail('--agent', `one of ${ids}`, id, 'Name an agent of the game.');
      }
      const policy = policyOf(agent);
      if (typeof policy === 'string') {
        const remedy =
          'Name an agent whose policy PPO trains: ppo, shared-ppo, social-influence, or hop-plus with omg: false.';
        return fail('coplay export', 'an agent with a file', `${id}, ${agent.name}: ${policy}`, remedy);
      }
      const { size, inputs, outputs } = await exportOnnx(policy, file, { value: flags['value'] === true });
      const named = `in: ${Object.keys(inputs).join(', ')}; out: ${Object.keys(outputs).join(', ')}`;
      const written = { file, agent: id, name: agent.name, envSteps: run.envSteps, size, inputs, outputs };
      answer(terminal, flags, written, () => {
        return `${file}: ${agent.name} of ${id} after ${run.envSteps} steps, ${size} bytes; ${named}`;
      });
      return EXIT.ok;
    } finally {
      run.dispose();
    }
  },
});
