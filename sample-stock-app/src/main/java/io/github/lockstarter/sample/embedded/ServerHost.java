// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

import org.apache.commons.logging.LogFactory;

import io.github.lockstarter.servers.ServerProcess;

/**
 * The JVM that a server ends with. The first instance launches it, and it ends with the
 * last one. They know of each other by two locks on a file, the first byte for the host
 * and the second for the instances. The operating system frees those of a process that
 * crashes.
 *
 * @param locks the file
 * @param address the properties of the running server
 */
record ServerHost(FileChannel locks, Path address) implements AutoCloseable {

	/**
	 * Ctrl+C in the terminal of the first instance must not end it. macOS has no setsid.
	 */
	private static final String DETACHED = "if command -v setsid >/dev/null; then exec setsid \"$@\"; fi; set -m; \"$@\" &";

	static FileChannel open(Path file) throws IOException {
		return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
	}

	private static ServerHost of(EmbeddedServer server, Path directory) throws IOException {
		return new ServerHost(open(directory.resolve(server + ".lock")), directory.resolve(server + ".properties"));
	}

	/**
	 * Join the host of a server, after launching it if there is none.
	 */
	static ServerHost join(EmbeddedServer server, Path directory) throws IOException {
		ServerHost host = of(server, directory);
		// Waits for a host that is ending
		host.locks.lock(1, 1, true);
		FileLock vacancy = host.locks.tryLock(0, 1, false);
		if (vacancy != null) {
			vacancy.release();
			host.launch(server, directory);
		}
		LogFactory.getLog(ServerHost.class)
			.info("%s %s".formatted((vacancy != null) ? "Started" : "Joined", Files.readString(host.address)));
		return host;
	}

	private void launch(EmbeddedServer server, Path directory) throws IOException {
		Files.deleteIfExists(this.address);
		Path log = directory.resolve(server + ".log");
		List<String> command = new ArrayList<>(List.of("sh", "-c", DETACHED, "sh"));
		command.addAll(ServerProcess.java(List.of(), ServerHost.class.getName(), server.name(), directory.toString()));
		Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
		try (InputStream output = process.getInputStream()) {
			// Until the server runs, or the host has ended
			output.readAllBytes();
		}
		if (Files.notExists(this.address)) {
			throw new IOException("%s did not start:%n%s".formatted(server, Files.readString(log)));
		}
	}

	/**
	 * Leave the host.
	 */
	@Override
	public void close() throws IOException {
		this.locks.close();
	}

	/**
	 * Run a server while instances use it.
	 * @param args its name, and the directory of the instances
	 */
	public static void main(String[] args) {
		try {
			EmbeddedServer server = EmbeddedServer.valueOf(args[0]);
			of(server, Path.of(args[1])).publish(server.start());
		}
		catch (Throwable ex) {
			ex.printStackTrace();
		}
		// Libraries may have left threads behind
		System.exit(0);
	}

	private void publish(String property) throws IOException {
		// If the instance that launched this host crashed, the next one may have another
		if (this.locks.tryLock(0, 1, false) != null) {
			Path incomplete = Files.createTempFile(this.address.getParent(), "incomplete", "");
			Files.move(Files.writeString(incomplete, property), this.address, StandardCopyOption.ATOMIC_MOVE);
			System.out.close();
			this.locks.lock(1, 1, false);
		}
	}

}
