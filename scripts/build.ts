/** Builds all packages, each by its own script. They read one another's sources, so their order is free. */
import { Checklist } from './lib/checklist';
import { mustRun } from './lib/run';
import { sideBySide } from './lib/side-by-side';
import { workspaces } from './lib/workspaces';

const checklist = new Checklist();
await sideBySide(workspaces(), ({ name, folder }) =>
  checklist.check(name, async () => {
    await mustRun('npm', ['run', '--silent', 'build'], { cwd: folder });
  }),
);
checklist.finish('build');
