/** Reports the progress of a long step to a person; `what` names the things that are counted. */
export type Report = (done: number, total: number, what: string) => void;
