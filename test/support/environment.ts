import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

/**
 * Jest's environment for Node, in which a test file fails that leaves a service or a database open: the next start of
 * the same thing would fail, too.
 */
export default class TestEnvironment extends NodeEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    this.global.openThings = new Set<string>();
  }

  override async teardown(): Promise<void> {
    const left = [...((this.global.openThings as Set<string> | undefined) ?? [])];
    await super.teardown();
    if (left.length > 0) throw new Error(`This file has left open: ${left.join(', ')}`);
  }
}
