export { encodeFrame, type Frame, FrameDecoder } from "./frames.ts";
export { columnsMax, frameBytesMax, inputBytesMax, rowsMax } from "./limits.ts";
export {
  type Ended,
  frameTypes,
  type FromHolder,
  fromHolder,
  type Hello,
  type Size,
  type Sized,
  toHolder,
} from "./messages.ts";
