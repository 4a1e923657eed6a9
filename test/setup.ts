import fc from 'fast-check';

// The same examples in every run: what fails in one place can be seen fail in another. `FC_SEED=n` draws others.
fc.configureGlobal({ seed: Number(process.env['FC_SEED'] ?? 1) });
