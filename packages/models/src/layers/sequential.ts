import { checkShapes } from '@coplay/core';
import { checkArgument, checkCount, checkGenerator, functions } from '@coplay/core/checks';
import { z } from 'zod';
import type { Layer } from './layer';
import { checkParams, prefixed, within } from './params';

const schema = z.array(z.looseObject({ init: functions(), apply: functions() }));

/** Layers one after the other; parameters are named `0/kernel`, `0/bias`, `1/kernel`, ... */
export function sequential(layers: readonly Layer[], inputSize: number): Layer {
  checkArgument('sequential', 'layers', schema, layers);
  checkCount('sequential', 'inputSize', inputSize, 1);
  return {
    outputSize: layers.at(-1)?.outputSize ?? inputSize,
    init: (generator) => {
      checkGenerator('sequential.init', generator);
      return Object.assign({}, ...layers.map((layer, i) => prefixed(String(i), layer.init(generator.fork()))));
    },
    apply: (params, x) => {
      checkParams('sequential.apply', params);
      checkShapes('sequential.apply', { x }, `B ${inputSize}`);
      return layers.reduce((h, layer, i) => layer.apply(within(String(i), params), h), x);
    },
  };
}
