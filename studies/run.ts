import { fileURLToPath } from 'node:url';
import { main } from '../bench/harness';

// npm run study -- NAME [options]
await main({ kind: 'study', folder: fileURLToPath(new URL('.', import.meta.url)) }, process.argv.slice(2));
