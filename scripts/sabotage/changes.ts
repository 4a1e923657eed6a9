/** One change that makes the library wrong. */
export interface Change {
  /** Its effect on the library. */
  readonly name: string;
  /** A text that stands once in the sources. */
  readonly find: string;
  /** What stands there instead. */
  readonly replace: string;
  /** The tests of which one must fail: parts of their paths. */
  readonly tests: readonly string[];
}

const CORE = ['packages/core/'];
const ENVS = ['packages/envs/'];
const BUFFERS = ['packages/buffers/'];
const MODELS = ['packages/models/'];
const PLANNING = ['packages/planning/'];
const DIAGNOSTICS = ['packages/diagnostics/'];
const PPO = ['trainers/src/ppo', 'trainers/test/self-play', 'trainers/test/field-bugs'];
const HOP = ['trainers/src/hop/', 'trainers/src/training/goal-beliefs', 'trainers/test/hop.test'];
const HOP_PLUS = ['trainers/src/hop-plus', 'trainers/test/hop-plus'];
const MOA = ['packages/buffers/', 'models/test/moa', 'trainers/src/moa', 'trainers/test/moa'];
const OMG = ['models/test/omg', 'trainers/src/omg', 'trainers/test/omg'];
const DREAMER = ['models/', 'trainers/src/dreamer', 'trainers/test/dreamer'];
const WORLD_MODEL = ['models/test/world-model', 'trainers/src/world-model', 'trainers/test/world-model'];
const SEARCH_VIEW = ['trainers/test/search-view'];
const OWN_NETWORKS = ['models/test/own-networks', 'trainers/test/own-networks'];
const RUNS = ['trainers/src/checkpoint', 'trainers/test/resume', 'trainers/test/checkpoint', 'trainers/test/self-play'];

/** The first five were once made by hand, and no test failed. */
export const CHANGES: readonly Change[] = [
  {
    name: 'ppo: the entropy bonus is a penalty',
    find: 'tf.add(tf.sub(surrogate, bonus), tf.mul(options.valueWeight, critic))',
    replace: 'tf.add(tf.add(surrogate, bonus), tf.mul(options.valueWeight, critic))',
    tests: PPO,
  },
  {
    name: 'omg: the KL is taken to the present state instead of the selected one',
    find: "rowsOf(encoder, gather(each['selected'])).inputs",
    replace: "rowsOf(encoder, gather(each['places'])).inputs",
    tests: OMG,
  },
  {
    name: "dreamer: a decoder of one's own predicts images without a sigmoid",
    find: 'i < flat.length ? parts[i] : tf.sigmoid(parts[i])',
    replace: 'parts[i]',
    tests: OWN_NETWORKS,
  },
  {
    name: "networks of one's own: a state with other networks is taken over",
    find: 'differences(saved ?? {}, configs)',
    replace: 'differences(configs, configs)',
    tests: OWN_NETWORKS,
  },
  {
    name: 'omg: the KL is taken the other way round',
    find: 'weightedRows(gaussianKl(posterior, prior), weights)',
    replace: 'weightedRows(gaussianKl(prior, posterior), weights)',
    tests: OMG,
  },
  {
    name: 'world model: the negatives of the contrastive loss are predictions, not targets',
    find: 'tf.logSumExp(similarities, 1)',
    replace: 'tf.logSumExp(similarities, 0)',
    tests: ['models/src/world-model/info-nce'],
  },
  {
    name: 'hop+: the priors that the policy reads change within an episode',
    find: 'if (areNew || isFirst[row] === 1) this.held.set(now, row * size);',
    replace: 'this.held.set(now, row * size);',
    tests: HOP_PLUS,
  },
  {
    name: 'hop+: an imagined policy reads the priors of another seat',
    find: 'extraAt(extras[GOAL_PRIORS], agents.length, seat, rows)',
    replace: 'extraAt(extras[GOAL_PRIORS], agents.length, (seat + 1) % agents.length, rows)',
    tests: HOP_PLUS,
  },
  {
    name: 'hop+: one co-player is imagined by the model of another',
    find: 'return modelledCoPlayer(moa, id, game, starts, chance, generator.split(player));',
    replace:
      'const wrong = moa.coPlayers[(moa.coPlayers.indexOf(id) + 1) % moa.coPlayers.length];\n    return { ...modelledCoPlayer(moa, wrong, game, starts, chance, generator.split(player)), agent: { ...moa.agent(wrong), id } };',
    tests: HOP_PLUS,
  },
  {
    name: 'ppo: prosocial agents are paid their own rewards',
    find: "if (choice === 'prosocial') return prosocialRewards(experience, gamma);",
    replace: "if (choice === 'prosocial') return experience.rewards;",
    tests: PPO,
  },
  // Core
  {
    name: 'core: gae forgets lambda',
    find: 'delta + gamma * lambda * later[row + agents]',
    replace: 'delta + gamma * later[row + agents]',
    tests: CORE,
  },
  {
    name: 'core: a return runs on into the next episode',
    find: 'const over = isLastStep(steps, Math.floor(row / agents)) ||',
    replace: 'const over =',
    tests: CORE,
  },
  {
    name: 'core: a time limit counts as an end',
    find: "const limitIsEnd = truncation === 'terminal';",
    replace: 'const limitIsEnd = true;',
    tests: CORE,
  },
  {
    name: 'core: lambda-returns swap lambda and its rest',
    find: '(1 - lambda) * nextValues[row] + lambda * returns[row + agents]',
    replace: 'lambda * nextValues[row] + (1 - lambda) * returns[row + agents]',
    tests: CORE,
  },
  {
    name: 'core: advantages are not centred',
    find: 'normalised[i] = (advantages[i] - mean) / scale;',
    replace: 'normalised[i] = advantages[i] / scale;',
    tests: CORE,
  },
  {
    name: 'core: cuts keep the first observation of the next episode',
    find: 'const observations = ended ? env.finalObservations : env.observations;',
    replace: 'const observations = env.observations;',
    tests: CORE,
  },
  {
    name: 'core: cuts keep the masks of the next episode',
    find: 'copyRow(ended ? env.finalMasks : env.masks, e, cuts.masks',
    replace: 'copyRow(env.masks, e, cuts.masks',
    tests: CORE,
  },
  {
    name: 'core: lengths of evaluated episodes add up',
    find: 'this.lengths[episode] = this.runningSteps[e];\n    this.runningSteps[e] = 0;',
    replace: 'this.lengths[episode] = this.runningSteps[e];',
    tests: CORE,
  },
  {
    name: 'core: the standard error is a standard deviation',
    find: '** 2, 0) / (count - 1) / count)',
    replace: '** 2, 0) / (count - 1))',
    tests: CORE,
  },
  { name: 'core: imagined experience is not marked', find: 'experience.isImagined.fill(1);', replace: '', tests: CORE },
  // Games
  {
    name: 'envs: a stag is caught by one hunter',
    find: 'return hunters < 2 ? NOTHING :',
    replace: 'return hunters < 1 ? NOTHING :',
    tests: ENVS,
  },
  {
    name: 'envs: each hunter of a hare is paid in full',
    find: 'return settings.hareReward / hunters;',
    replace: 'return settings.hareReward;',
    tests: ENVS,
  },
  {
    name: 'envs: shovellers of one drift pay in full',
    find: 'return settings.shovelCost / shovellers;',
    replace: 'return settings.shovelCost;',
    tests: ENVS,
  },
  {
    name: "envs: the second player's table is not transposed",
    find: 'flat(first), flat(transposed)]',
    replace: 'flat(first), flat(second)]',
    tests: ENVS,
  },
  {
    name: 'envs: agents who left are truncated, too',
    find: 'cut && !hasLeft ? 1 : 0',
    replace: 'cut ? 1 : 0',
    tests: ENVS,
  },
  {
    name: 'envs: temptation and reward of the dilemma are swapped',
    find: 'payoffs: twoByTwo(3, 0, 5, 1)',
    replace: 'payoffs: twoByTwo(5, 0, 3, 1)',
    tests: ENVS,
  },
  // Tensor
  {
    name: 'tensor: entropy has the wrong sign',
    find: 'return tf.neg(tf.sum(tf.mul(tf.exp(logProbs), legalLogProbs), -1));',
    replace: 'return tf.sum(tf.mul(tf.exp(logProbs), legalLogProbs), -1);',
    tests: ['tensor/test/dist'],
  },
  {
    name: 'tensor: the other way round of a divergence',
    find: 'tf.mul(tf.exp(logP), tf.sub(logP, logQ))',
    replace: 'tf.mul(tf.exp(logQ), tf.sub(logQ, logP))',
    tests: ['tensor/test/dist'],
  },
  {
    name: 'tensor: Adam without bias correction of its mean',
    find: 'const h = tf.tanh(tf.mul(step, -Math.log(beta) / 2));\n  return tf.div(tf.mul(h, 2), tf.add(h, 1));',
    replace: 'return tf.onesLike(step);',
    tests: ['tensor/test/optim'],
  },
  {
    name: "tensor: Nesterov's momentum is plain momentum",
    find: 'const change = nesterov ? tf.add(gradient, tf.mul(velocity, momentum)) : velocity;',
    replace: 'const change = velocity;',
    tests: ['tensor/test/optim'],
  },
  // Buffers
  {
    name: 'buffers: the ratio of real rows is turned round',
    find: 'const real = realRatio === 0 ? 0 : rows.real;',
    replace: 'const real = realRatio === 1 ? 0 : rows.real;',
    tests: BUFFERS,
  },
  {
    name: 'buffers: the ring loses a row at its seam',
    find: '(this.pushed.rows + i) % this.capacity, size)',
    replace: 'Math.min(this.pushed.rows + i, this.capacity - 1), size)',
    tests: BUFFERS,
  },
  // Models
  {
    name: 'models: the GRU carries its state into the next episode',
    find: 'state = advance(params, projected[t], tf.mul(state, keeps[t]));',
    replace: 'state = advance(params, projected[t], state);',
    tests: MODELS,
  },
  {
    name: 'models: the optimistic selector takes the lowest value',
    find: "const sign = selector === 'conservative' ? -1 : 1;",
    replace: "const sign = selector === 'conservative' ? 1 : -1;",
    tests: MODELS,
  },
  {
    name: 'models: the standard KL forgets the mean',
    find: 'const ratio = tf.add(tf.exp(q.logVar), tf.square(q.mean));',
    replace: 'const ratio = tf.exp(q.logVar);',
    tests: MODELS,
  },
  {
    name: "models: the inference's decoder sees the state that it explains",
    find: 'return tf.reshape(kept, [rows * steps, units]) as tf.Tensor2D;',
    replace: 'return tf.reshape(states, [rows * steps, units]) as tf.Tensor2D;',
    tests: [...OMG, 'packages/models/'],
  },
  {
    name: 'models: images are centred in the wrong row',
    find: 'const [down, right] = [height - 1 - Math.floor(own / width), width - 1 - (own % width)];',
    replace: 'const [down, right] = [width - 1 - (own % width), height - 1 - Math.floor(own / width)];',
    tests: MODELS,
  },
  {
    name: "models: DreamerV3's weights forget the real state",
    find: 'return tf.cumprod(discounts, 1);',
    replace: 'return tf.cumprod(discounts, 1, true);',
    tests: DREAMER,
  },
  {
    name: 'models: arrival returns trust values and returns the wrong way round',
    find: 'const near = tf.add(rewards, tf.mul(tf.mul(discounts, tf.sub(1, traces)), values));',
    replace: 'const near = tf.add(rewards, tf.mul(tf.mul(discounts, traces), values));',
    tests: DREAMER,
  },
  {
    name: 'models: the critic of a real sequence counts its last steps',
    find: 'const traces = tf.mul(tf.sub(1, isLast), lambda) as tf.Tensor2D;',
    replace: 'const traces = tf.fill(isLast.shape, lambda) as tf.Tensor2D;',
    tests: DREAMER,
  },
  {
    name: 'models: the actor likes no entropy',
    find: 'tf.add(score, tf.mul(entropies, entropyScale))',
    replace: 'tf.sub(score, tf.mul(entropies, entropyScale))',
    tests: DREAMER,
  },
  {
    name: 'models: the previous action crosses the start of an episode',
    find: 'core.actionPart(params, flatten(tf.mul(actions, keep)))',
    replace: 'core.actionPart(params, flatten(actions))',
    tests: DREAMER,
  },
  // Planning
  {
    name: 'planning: exploration forgets the prior',
    find: 'const score = q + (scale * prior) / (1 + visits);',
    replace: 'const score = q + scale / (1 + visits);',
    tests: PLANNING,
  },
  {
    name: 'planning: returns of a path are not discounted',
    find: 'value = this.pathRewards[at] + settings.gamma * value;',
    replace: 'value = this.pathRewards[at] + value;',
    tests: PLANNING,
  },
  {
    name: 'planning: goals of the co-players are taken from the first root',
    find: 'const from = (this.roots[tree] * A + other) * goals;',
    replace: 'const from = other * goals;',
    tests: PLANNING,
  },
  {
    name: "planning: co-players' goals are drawn by the wrong seat",
    find: 'this.goals[tree * A + other] = drawIndex(beliefs, this.generators[tree], from, goals);',
    replace: 'this.goals[tree * A + ((seat + A - i) % A)] = drawIndex(beliefs, this.generators[tree], from, goals);',
    tests: PLANNING,
  },
  {
    name: 'planning: the memory of goals forgets nothing',
    find: 'if (goal >= 0) discountCounts(counts, Int32Array.of(goal), discount);',
    replace: 'if (goal >= 0) discountCounts(counts, Int32Array.of(goal), 1);',
    tests: PLANNING,
  },
  {
    name: 'planning: beliefs do not follow what co-players do',
    find: 'const isKnown = this.intra && likelihoods !== undefined;',
    replace: 'const isKnown = false && likelihoods !== undefined;',
    tests: PLANNING,
  },
  {
    name: 'planning: a co-player who reached a goal is believed to be after the same one',
    find: 'reached[at]++;\n        isNew[at] = 1;',
    replace: 'reached[at]++;',
    tests: PLANNING,
  },
  {
    name: 'planning: a goal is looked for in the state of the next episode',
    find: 'for (let e = 0; e < envs; e++) if (ended[e] === 1) copyRow(finalStates, e, after, e, game.stateSize);',
    replace: '',
    tests: PLANNING,
  },
  {
    name: 'planning: priors of a memory are not checked when they are used',
    find: "this.priorOf('beliefs.see', Math.floor(at / A), at % A, reached[at], open, openFrom)",
    replace: 'this.memoriesIn(Math.floor(at / A))[at % A].prior(reached[at], open, openFrom)',
    tests: PLANNING,
  },
  {
    name: 'planning: likelihoods that are not numbers are taken',
    find: 'if (isKnown) this.checkLikelihoods(at, chances, ownOpen);',
    replace: '',
    tests: PLANNING,
  },
  // Trainers
  {
    name: 'ppo: the surrogate takes the larger side',
    find: 'tf.minimum(tf.mul(ratio, advantages), tf.mul(clipped, advantages))',
    replace: 'tf.maximum(tf.mul(ratio, advantages), tf.mul(clipped, advantages))',
    tests: PPO,
  },
  { name: "ppo: another seat's rewards", find: 'if (isActive) shared', replace: 'if (!isActive) shared', tests: PPO },
  {
    name: 'ppo: the critic is trained on rewards that were imagined',
    find: "if (!isImagined || options.imaginedCritic !== 'zero-imagined-reward') return targets;",
    replace: 'if (isImagined || !isImagined) return targets;',
    tests: [...PPO, ...HOP_PLUS],
  },
  {
    name: 'ppo: the value loss has no weight',
    find: 'tf.mul(options.valueWeight, critic)) as tf.Scalar;',
    replace: 'critic) as tf.Scalar;',
    tests: PPO,
  },
  {
    name: 'moa: the loss counts padding',
    find: 'tf.neg(tf.div(tf.sum(tf.mul(taken, weights)), count))',
    replace: 'tf.neg(tf.mean(taken))',
    tests: MOA,
  },
  {
    name: 'moa: accuracy is measured on rows that were trained on',
    find: 'const old = serials.findIndex((serial) => serial >= seen.episodes);',
    replace: 'const old = serials.findIndex((serial) => serial >= 0 && seen.episodes >= 0);',
    tests: MOA,
  },
  {
    name: 'moa: previous actions of a stored history begin with the co-player',
    find: 'previousActions: rotated(previousActions, agents - seat)',
    replace: 'previousActions: rotated(previousActions, agents)',
    tests: BUFFERS,
  },
  {
    name: 'moa: a goal that is reached in the last step of an episode is not seen in the state after it',
    find: 'const after = isLast ? stateAt(cuts.states!.data, ends.get(place)!) : stateAt(states.data, place + 1);',
    replace: 'const after = isLast ? stateAt(states.data, place) : stateAt(states.data, place + 1);',
    tests: MOA,
  },
  {
    name: 'moa: a modelled agent keeps its goal for ever',
    find: 'goals[row] = goalsOf(row, input, generator);\n        memory',
    replace: 'memory',
    tests: MOA,
  },
  {
    name: "moa: each co-player's rows train the first one's network",
    find: 'return this.setup.options.share ? 0 : this.coPlayers.indexOf(coPlayer);',
    replace: 'return 0;',
    tests: MOA,
  },
  {
    name: 'moa: a minibatch has the goals of other rows',
    find: 'goals[at] = list.goals[row];',
    replace: 'goals[at] = list.goals[list.places[row]];',
    tests: MOA,
  },
  {
    name: 'moa: a restore takes an action that was not legal',
    find: 'if (masks.data[row * K + action] === 1) continue;',
    replace: 'if (masks.data[row * K + action] <= 1) continue;',
    tests: ['test/restore/values'],
  },
  {
    name: 'moa: a restore takes more rows trained on than were pushed',
    find: "'seen.rows', seen.rows, { max: rows }",
    replace: "'seen.rows', seen.rows, {}",
    tests: ['test/restore/values'],
  },
  {
    name: 'lockstep: a run lists learners that run by themselves',
    find: 'byKind(learners).filter((members) => members.length > 1)',
    replace: 'byKind(learners).filter((members) => members.length > 0)',
    tests: ['trainers/src/training', 'trainers/test/lockstep'],
  },
  {
    name: 'omg: subgoals reach over the end of an episode',
    find: 'lengths[Math.floor(row / steps)] || isLastStep(experience, row);',
    replace: 'lengths[Math.floor(row / steps)];',
    tests: OMG,
  },
  {
    name: "omg: values are the observer's where the co-player's are asked for",
    find: "const judge = settings.valuesOf === 'observer' ? seat : other;",
    replace: 'const judge = seat;',
    tests: OMG,
  },
  {
    name: 'world model: rewards are not scored',
    find: '(predicted[i] - truth[i]) ** 2 / width;',
    replace: '(predicted[i] - truth[i]) / width;',
    tests: WORLD_MODEL,
  },
  {
    name: 'world model: one wrong agent does not matter',
    find: 'if (!agrees(predicted[i], truth[i])) exact[Math.floor(i / width)] = 0;',
    replace: 'exact[Math.floor(i / width)] = agrees(predicted[i], truth[i]) ? 1 : 0;',
    tests: WORLD_MODEL,
  },
  {
    name: 'world model: an own view has the actions of the wrong agents',
    find: 'to[at + i] = from[start + ((seat + i) % A)]',
    replace: 'to[at + i] = from[start + i]',
    tests: SEARCH_VIEW,
  },
  {
    name: 'hop: an agent that searches takes agents that left for playing',
    find: 'return action < 0 ? 0 : (known?.[i] ?? 1);',
    replace: 'return 1;',
    tests: SEARCH_VIEW,
  },
  {
    name: 'hop: the policy is pushed away from what the search found',
    find: 'tf.neg(tf.mean(tf.sum(tf.mul(target, logProbs), 1))) as tf.Scalar;\n  const valueLoss',
    replace: 'tf.mean(tf.sum(tf.mul(target, logProbs), 1)) as tf.Scalar;\n  const valueLoss',
    tests: HOP,
  },
  {
    name: 'hop: policies of a saved replay need not sum to 1',
    find: 'if (Math.abs(sum - 1) <= TOLERANCE) continue;',
    replace: 'if (sum <= 1) continue;',
    tests: HOP,
  },
  {
    name: 'hop: a memory of your own is ignored',
    find: 'if (inter !== true) return inter;',
    replace: 'if (inter === false) return inter;',
    tests: HOP,
  },
  { name: 'hop: outcomes are not discounted back', find: 'target *= gamma;', replace: '', tests: HOP },
  {
    name: 'hop: likelihoods are asked under the wrong goal',
    find: 'const wanted = Int32Array.from(places, (place) => place % goals);',
    replace: 'const wanted = Int32Array.from(places, (place) => (place + 1) % goals);',
    tests: HOP,
  },
  {
    name: 'hop+: imagination never waits for the world model',
    find: 'const isOpen = updates >= options.startUpdates && worldAccuracy >= options.minAccuracy;',
    replace: 'const isOpen = updates >= options.startUpdates;',
    tests: HOP_PLUS,
  },
  {
    name: "hop+: a played search is recorded with the policy's log-probability",
    find: 'chosen.logProbs[row] = Math.log(result.policy[i * K + action]);',
    replace: '',
    tests: HOP_PLUS,
  },
  {
    name: 'hop+: the policy is pushed away from what the search found',
    find: 'const crossEntropy = tf.neg(tf.sum(tf.mul(targets, logProbs), 1)) as tf.Tensor1D;',
    replace: 'const crossEntropy = tf.sum(tf.mul(targets, logProbs), 1) as tf.Tensor1D;',
    tests: [...PPO, ...HOP_PLUS],
  },
  {
    name: 'hop+: the search never waits for the world model',
    find: "treeSearch !== false && (typeof worldModel !== 'object' || worldModel.accuracy >= treeSearch.minAccuracy)",
    replace: "treeSearch !== false && (typeof worldModel !== 'object' || worldModel.accuracy >= 0)",
    tests: HOP_PLUS,
  },
  {
    name: 'hop+: co-players who were only imagined are learned from',
    find: 'row % agents === seat ? flag : 0',
    replace: 'row % agents >= 0 ? flag : 0',
    tests: HOP_PLUS,
  },
  {
    name: 'hop+: goals are drawn though they cannot be reached',
    find: '(isOpen(goal, row) ? p : 0)',
    replace: '(isOpen(goal, row) ? p : p)',
    tests: HOP_PLUS,
  },
  {
    name: 'dreamer: the slow critic is the critic',
    find: 'nets.critic.logits(slow, features))); // [N, L]',
    replace: 'nets.critic.logits(val, features))); // [N, L]',
    tests: DREAMER,
  },
  {
    name: 'dreamer: values are not subtracted from returns',
    find: 'tf.div(tf.sub(returns, butLast(values)), scale)',
    replace: 'tf.div(returns, scale)',
    tests: DREAMER,
  },
  {
    name: 'lola: later rounds do not matter',
    find: 'mixed[s * MEMORIES + ownSide(u)] = both + laterValues + laterWeights;',
    replace: 'mixed[s * MEMORIES + ownSide(u)] = both + laterWeights;',
    tests: ['trainers/src/lola', 'trainers/test/lola'],
  },
  {
    name: 'past selves: the present self never plays',
    find: 'const isLatest = generator.uniform() < this.rule.latest;',
    replace: 'const isLatest = generator.uniform() < 0;',
    tests: ['trainers/test/self-play'],
  },
  // Diagnostics
  {
    name: 'diagnostics: an interval of 90 % is called one of 95 %',
    find: 'const tail = (1 - confidence) / 2;',
    replace: 'const tail = 1 - confidence;',
    tests: DIAGNOSTICS,
  },
  {
    name: 'diagnostics: ties count as no improvement',
    find: 'else if (first[i] === second[j]) wins += 0.5;',
    replace: 'else if (first[i] === second[j]) wins += 0;',
    tests: DIAGNOSTICS,
  },
  {
    name: 'diagnostics: the permutation test is one-sided',
    find: 'forEachSplit(pooled, size, (sum) => count.add(Math.abs(difference(sum))));',
    replace: 'forEachSplit(pooled, size, (sum) => count.add(difference(sum)));',
    tests: DIAGNOSTICS,
  },
  {
    name: 'diagnostics: the interquartile mean drops one end only',
    find: 'sorted(values).subarray(cut, values.length - cut)',
    replace: 'sorted(values).subarray(cut)',
    tests: DIAGNOSTICS,
  },
  {
    name: "diagnostics: Welch's degrees of freedom are pooled",
    find: 'const degreesOfFreedom = (a + b) ** 2 / (a ** 2 / (first.length - 1) + b ** 2 / (second.length - 1));',
    replace: 'const degreesOfFreedom = first.length + second.length - 2;',
    tests: DIAGNOSTICS,
  },
  {
    name: 'checkpoint: the oldest one is taken for the newest',
    find: 'readable.sort((a, b) => b.manifest.sequence - a.manifest.sequence ||',
    replace: 'readable.sort((a, b) => a.manifest.sequence - b.manifest.sequence ||',
    tests: RUNS,
  },
  {
    name: 'checkpoint: one too many is removed',
    find: 'of readable.slice(keep)) {',
    replace: 'of readable.slice(keep - 1)) {',
    tests: RUNS,
  },
  {
    name: 'social influence: what one did is compared with nothing',
    find: 'chance * Math.log(chance / marginal(predictions, policy, row, next, K))',
    replace: 'chance * Math.log(chance * K)',
    tests: ['trainers/src/social-influence', 'trainers/test/social-influence'],
  },
  {
    name: "viewer: an agent's first action is never drawn",
    find: 'return drawIndex(weights, generator);',
    replace: 'return 1 + drawIndex(weights.subarray(1), generator);',
    tests: ['packages/viewer/'],
  },
];
