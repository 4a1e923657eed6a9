import { allocate, fail, type NamedArrays, type NDArray, type TypedArray } from '@coplay/core';
import { dtypeOf, kindOf, sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkExperienceSpec, checkText } from '@coplay/core/checks';
import { mapColumns } from '@coplay/core/rows';
import { checkRoom, encoderSchema, type InputEncoder, type SeenGame } from './input-encoder';

/** Whether agents of a game see an image with themselves in it, so that {@link centredEncoder} can centre it. */
export function canCentre(game: SeenGame): boolean {
  checkExperienceSpec('canCentre', game, 'any');
  return Object.keys(game.observation).some((name) => showsSelf(game, name));
}

/** Whether a field shows the agent as the nonzero entry of its own channel; fields of colours and of indices don't. */
export function showsSelf(game: SeenGame, name: string): boolean {
  checkExperienceSpec('showsSelf', game, 'any');
  checkText('showsSelf', 'name', name);
  const field = game.observation[name];
  if (!field?.channels?.includes('self') || field.shape.length !== 3) return false;
  return kindOf(field) !== 'image' && kindOf(field) !== 'indices';
}

/**
 * An encoder whose images are moved so that the agent itself (the channel `self`) is in the middle: [2H - 1, 2W - 1, C
 * + 1], the last channel 1 outside of the board. What lies in which direction is then told by its place alone, which
 * networks learn from far fewer rows. Where the agent isn't on the board, the image stays empty.
 *
 * @throws CoplayError for a game without an image that has a channel `self`
 */
export function centredEncoder(game: SeenGame, encoder: InputEncoder): InputEncoder {
  checkExperienceSpec('centredEncoder', game, 'any');
  checkArgument('centredEncoder', 'encoder', encoderSchema, encoder);
  const images = Object.keys(encoder.shapes).filter((name) => showsSelf(game, name));
  if (images.length === 0) {
    const remedy =
      'Leave centred out, or give the game such an image ("Kinds of observation fields" in docs/writing-an-environment.md).';
    fail('centredEncoder', 'an image [H, W, C] with a channel named self', game.name, remedy);
  }
  const shapes: Record<string, readonly number[]> = { ...encoder.shapes };
  for (const name of images) {
    const [height, width, channels] = shapes[name];
    shapes[name] = [2 * height - 1, 2 * width - 1, channels + 1];
  }
  /** The same arrays, with zeros for the larger images. */
  const larger = (arrays: NamedArrays): NamedArrays =>
    mapColumns(arrays, (array, name): NDArray => {
      if (!images.includes(name)) return array;
      const shape = [array.shape[0], ...shapes[name]];
      return { data: allocate(dtypeOf(array.data), sizeOf(shape)), shape };
    });
  return {
    shapes,
    kinds: encoder.kinds,
    measured: Object.fromEntries(Object.entries(encoder.measured).filter(([name]) => !images.includes(name))),
    allocate: (rows) => larger(encoder.allocate(rows)),
    encode: (source, into) => {
      const apart = Object.entries(encoder.allocate(into ? source.rows : 0)).filter(([name]) => images.includes(name));
      const encoded = encoder.encode(source, into && { ...into, ...Object.fromEntries(apart) });
      if (into !== undefined) checkRoom('centredEncoder.encode', shapes, into, source.rows);
      const moved = into ?? larger(encoded);
      for (const name of images) {
        const self = (game.observation[name].channels as readonly string[]).indexOf('self');
        centre(encoded[name], self, source.rows, moved[name].data);
      }
      return moved;
    },
  };
}

/** Writes images [B, H, W, C] into zeros [B, 2H - 1, 2W - 1, C + 1]. */
function centre({ data, shape }: NDArray, self: number, rows: number, moved: TypedArray): void {
  const [, height, width, channels] = shape;
  const [tall, wide, deep] = [2 * height - 1, 2 * width - 1, channels + 1];
  for (let row = 0; row < rows; row++) {
    const own = cellOf(data, row * height * width * channels, height * width, channels, self);
    if (own < 0) continue;
    const [down, right] = [height - 1 - Math.floor(own / width), width - 1 - (own % width)];
    for (let y = 0; y < tall; y++) {
      for (let x = 0; x < wide; x++) {
        const to = ((row * tall + y) * wide + x) * deep;
        const [fromY, fromX] = [y - down, x - right];
        if (fromY < 0 || fromY >= height || fromX < 0 || fromX >= width) {
          moved[to + channels] = 1;
          continue;
        }
        const from = ((row * height + fromY) * width + fromX) * channels;
        for (let c = 0; c < channels; c++) moved[to + c] = data[from + c];
      }
    }
  }
}

/** The first cell of an image where a channel isn't 0; -1 where there is none. */
function cellOf(data: ArrayLike<number>, start: number, cells: number, channels: number, channel: number): number {
  for (let cell = 0; cell < cells; cell++) if (data[start + cell * channels + channel] !== 0) return cell;
  return -1;
}
