// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.history;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes steps to a file. Written steps survive the death of the process, and an
 * interrupt does not close the file.
 */
public final class HistoryWriter implements AutoCloseable {

	private final String process;

	private final OutputStream file;

	private final AtomicLong attempts = new AtomicLong();

	/**
	 * Create a file.
	 * @param process name of this process
	 */
	public HistoryWriter(Path file, String process) throws IOException {
		this.process = process;
		this.file = new FileOutputStream(file.toFile(), true);
	}

	/**
	 * Begin an attempt of a thread.
	 * @return records its steps
	 */
	public Scribe begin(int thread, String key, boolean nested) {
		return new Scribe(this.process + "-" + this.attempts.incrementAndGet(), this.process + "-" + thread, key,
				nested);
	}

	private void write(String line) {
		try {
			this.file.write(line.getBytes(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() throws IOException {
		this.file.close();
	}

	/**
	 * Records the steps of one attempt.
	 */
	public final class Scribe {

		private final String owner;

		private final String line;

		private Scribe(String id, String owner, String key, boolean nested) {
			this.owner = owner;
			this.line = id + " " + owner + " " + key + " " + nested + " ";
		}

		/**
		 * Return the name of the process and thread.
		 */
		public String owner() {
			return this.owner;
		}

		/**
		 * Record a step that is about to happen, or has just happened.
		 */
		public void note(Step step) {
			note(step, System.nanoTime(), 0);
		}

		/**
		 * Record a step.
		 * @param token the fencing token of a grant, else 0
		 */
		public void note(Step step, long time, long token) {
			write(this.line + step + " " + time + " " + token + "\n");
		}

	}

}
