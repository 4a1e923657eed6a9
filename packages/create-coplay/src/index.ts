export { createFile, type FileOptions, type TemplateKind, templateKinds } from './file';
export { createProject, type ProjectOptions } from './project';
