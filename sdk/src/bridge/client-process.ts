/** Whether a client's process still runs. */
export { isRunning, type ProcessName, processStart } from '../writer/process-name.js';
