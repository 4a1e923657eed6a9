import { fail } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { verdict } from '../inputs';
import { listed, type Verdict } from './verdict';

/**
 * Does a fault go away with a module? Give the verdict of the same tests with all modules on, and with each one off.
 *
 * A module is at fault where agents are unequal with all on and no longer are without it. If an agent is unequal in
 * every setting, the fault lies elsewhere, and the modules pass.
 *
 * @param all      with every module on
 * @param without  by the name of the module that is off
 * @throws CoplayError for no modules
 */
export function moduleAudit(all: Verdict, without: Readonly<Record<string, Verdict>>): Verdict {
  checkArgument('moduleAudit', 'all', verdict, all);
  checkArgument('moduleAudit', 'without', z.record(z.string(), verdict), without);
  const names = Object.keys(without);
  if (names.length === 0)
    fail('moduleAudit', 'a module or more', 'none', 'Give a verdict for each module that is off.');
  const unfair = names.filter((name) => without[name].isFair === false);
  if (all.isFair !== false) {
    const finding =
      unfair.length === 0
        ? 'No fault with all modules on, nor without any of them.'
        : `No fault with all modules on, but one without ${listed(unfair)}: ${without[unfair[0]].finding}`;
    return { isFair: unfair.length === 0, suspects: [], finding };
  }
  const culprits = names.filter((name) => without[name].isFair === true);
  if (culprits.length === 0) {
    return { isFair: true, suspects: [], finding: 'The fault remains with any module off: it lies elsewhere.' };
  }
  return { isFair: false, suspects: all.suspects, finding: `The fault goes away without ${listed(culprits)}.` };
}
