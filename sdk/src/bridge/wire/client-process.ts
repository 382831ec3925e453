/** Whether a client's process still runs. */
export { isRunning, type ProcessName, processStart } from '../../writer/output/process-name.js';
