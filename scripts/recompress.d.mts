export function recompress(file: string): Promise<void>;
