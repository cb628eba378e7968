/** Tells a person how far a long step is: `what` says what the counted things are. */
export type Report = (done: number, total: number, what: string) => void;
