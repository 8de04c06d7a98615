// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import redis.embedded.RedisExecProvider;

/**
 * The redis-server of a directory. It is a daemon, because Ctrl+C in the terminal of the
 * first instance would otherwise end it.
 */
class RedisProcess {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final Path executable;

	private final Path portFile;

	private final Path logFile;

	RedisProcess(SharedDirectory directory) {
		this.executable = directory.resolve("redis-server");
		this.portFile = directory.resolve("redis.port");
		this.logFile = directory.resolve("redis.log");
	}

	/**
	 * Return the port of the running server, or 0. Another program that listens on that
	 * port by now is not mistaken for it.
	 */
	int findPort() throws IOException {
		if (Files.notExists(this.portFile)) {
			return 0;
		}
		int port = Integer.parseInt(Files.readString(this.portFile));
		return new InlineCommand("INFO server").send(port).contains("executable:" + this.executable) ? port : 0;
	}

	int start() throws IOException {
		File extracted = RedisExecProvider.defaultProvider().get();
		Files.move(extracted.toPath(), this.executable, StandardCopyOption.REPLACE_EXISTING);
		int port = ServerPort.find();
		Files.writeString(this.portFile, String.valueOf(port));
		new ProcessBuilder(this.executable.toString(), "--port", String.valueOf(port), "--bind", "127.0.0.1",
				"--daemonize", "yes", "--save", "", "--appendonly", "no", "--logfile", this.logFile.toString())
			.redirectOutput(Redirect.DISCARD)
			.redirectError(Redirect.DISCARD)
			.start();
		for (long deadline = System.nanoTime() + PATIENCE.toNanos(); findPort() == 0;) {
			if (System.nanoTime() > deadline) {
				throw new IOException("Embedded Redis did not start, see '" + this.logFile + "'");
			}
			LockSupport.parkNanos(10_000_000);
		}
		return port;
	}

	void stop() throws IOException {
		int port = findPort();
		if (port != 0) {
			new InlineCommand("SHUTDOWN NOSAVE").send(port);
		}
	}

}
