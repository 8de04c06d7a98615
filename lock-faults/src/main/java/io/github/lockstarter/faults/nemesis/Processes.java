// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;

/**
 * Sends signals to other processes.
 */
public final class Processes {

	private Processes() {
	}

	/**
	 * Pause a process.
	 */
	public static void stop(long pid) throws IOException, InterruptedException {
		signal("STOP", pid);
	}

	/**
	 * Resume a paused process.
	 */
	public static void proceed(long pid) throws IOException, InterruptedException {
		signal("CONT", pid);
	}

	private static void signal(String name, long pid) throws IOException, InterruptedException {
		int status = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).inheritIO().start().waitFor();
		if (status != 0) {
			throw new IOException("No signal " + name + " for process " + pid);
		}
	}

}
