import type { Recording } from '@coplay/envs';
import { encode } from 'modern-gif';
import { momentSvg } from './boards';

/** Colours of a GIF, at most: pictures have a dozen, the rest is for their edges. */
const COLOURS = 64;
const PIXELS = 400;
/** Milliseconds for which the last picture of a GIF stands. */
const LAST = 1500;

/** A moment, or the whole episode, as a file. @param speed steps per second of a GIF */
export async function pictureFile(
  recording: Recording,
  kind: 'svg' | 'png' | 'gif',
  moment: number,
  speed: number,
): Promise<Blob> {
  if (kind === 'gif') return gif(recording, speed);
  const svg = momentSvg(recording, moment, 800)!;
  if (kind === 'svg') return new Blob([svg], { type: 'image/svg+xml' });
  const canvas = await drawn(svg);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser made no PNG.'))), 'image/png');
  });
}

async function gif(recording: Recording, speed: number): Promise<Blob> {
  const { frames } = recording;
  const pictures: HTMLCanvasElement[] = [];
  for (let t = 0; t < frames.length; t++) pictures.push(await drawn(momentSvg(recording, t, PIXELS)!));
  const { width, height } = pictures[0];
  const delay = 1000 / speed;
  const encoded = pictures.map((canvas, t) => ({
    data: canvas.getContext('2d')!.getImageData(0, 0, width, height).data,
    delay: t === frames.length - 1 ? LAST : delay,
  }));
  return encode({ width, height, frames: encoded, maxColors: COLOURS, format: 'blob' });
}

/** An SVG file as pixels, on white. */
async function drawn(svg: string): Promise<HTMLCanvasElement> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext('2d', { willReadFrequently: true })!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0);
  return canvas;
}

/** Gives the browser a file to save. */
export function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  [link.href, link.download] = [url, name];
  link.click();
  // The browser has to read it first.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
