export { RepeatedAnswers } from "./answers.ts";
export { encodeFrame, type Frame, FrameDecoder } from "./frames.ts";
export { columnsMax, frameBytesMax, inputBytesMax, rowsMax } from "./limits.ts";
export {
  type Ended,
  type FromHolder,
  frameTypes,
  fromHolder,
  type Hello,
  type Size,
  type Sized,
  toHolder,
} from "./messages.ts";
export { type ByteStream, messagesOf } from "./stream.ts";
export { readerBehind, TerminalLink, type TerminalViewer } from "./terminal-link.ts";
