// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The JVM that a server ends with, while other JVMs use the server. The first user
 * launches it, and it ends after the last one. They know of each other by locks on the
 * bytes of a file, which the operating system frees when a process crashes: the first one
 * for the host, the second one for its users, the third one for a user that joins. The
 * file has the process id of the host.
 */
public final class ServerHost implements AutoCloseable {

	/**
	 * Whatever ends all processes of the first user, as Ctrl+C in its terminal does, must
	 * not end the host. macOS has no setsid.
	 */
	private static final String DETACHED = "if command -v setsid >/dev/null; then exec setsid \"$@\"; fi; set -m; \"$@\" &";

	private final FileChannel locks;

	private final Path file;

	private final Path log;

	/** All that there is of a server, and then their directory. */
	private final List<Path> files;

	private String address = "";

	private boolean launched;

	private ServerHost(Enum<?> server, Path directory) throws IOException {
		Path lock = directory.resolve(server.name() + ".lock");
		this.locks = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE);
		this.file = directory.resolve(server.name() + ".address");
		this.log = directory.resolve(server.name() + ".log");
		this.files = List.of(lock, this.file, this.log, directory);
	}

	/**
	 * Use a server, after launching its host if there is none.
	 * @param server one of an enum of servers; it starts the server and returns its
	 * address
	 * @param directory where all users look for the server
	 * @param others processes that keep the server alive, because users may follow each
	 * other while they live
	 */
	public static <S extends Enum<S> & Supplier<String>> ServerHost join(S server, Path directory,
			ProcessHandle... others) throws IOException {
		ServerHost host = new ServerHost(server, Files.createDirectories(directory));
		try (FileLock joining = host.locks.lock(2, 1, false)) {
			// Waits for a host that is ending
			host.locks.lock(1, 1, true);
			if (!host.isAlive()) {
				List<String> arguments = new ArrayList<>(
						List.of(server.getDeclaringClass().getName(), server.name(), directory.toString()));
				Stream.of(others).map((other) -> Long.toString(other.pid())).forEach(arguments::add);
				host.launch(arguments.toArray(String[]::new));
			}
			// Now, because the file may be deleted
			host.address = Files.readString(host.file);
			return host;
		}
		catch (IOException ex) {
			host.close();
			throw ex;
		}
	}

	private void launch(String... arguments) throws IOException {
		this.launched = true;
		Files.deleteIfExists(this.file);
		String redis = System.getProperty(RedisServer.EXECUTABLE_PROPERTY);
		List<String> options = (redis != null) ? List.of("-D" + RedisServer.EXECUTABLE_PROPERTY + "=" + redis)
				: List.of();
		List<String> command = new ArrayList<>(List.of("sh", "-c", DETACHED, "sh"));
		command.addAll(ServerProcess.java(options, ServerHost.class.getName(), arguments));
		Process process = new ProcessBuilder(command).redirectError(this.log.toFile()).start();
		try (InputStream output = process.getInputStream()) {
			// Until the server runs, or the host has ended
			output.readAllBytes();
		}
		if (Files.notExists(this.file)) {
			throw new IOException("%s did not start:%n%s".formatted(arguments[1], Files.readString(this.log)));
		}
	}

	/**
	 * Return whether this JVM was the one that launched the host.
	 */
	public boolean isLaunched() {
		return this.launched;
	}

	/**
	 * Return the address of the server.
	 */
	public String address() {
		return this.address;
	}

	/**
	 * Return whether nobody has killed the host.
	 */
	public boolean isAlive() throws IOException {
		try (FileLock vacancy = this.locks.tryLock(0, 1, false)) {
			return vacancy == null;
		}
	}

	/**
	 * Stop using the server.
	 */
	@Override
	public void close() throws IOException {
		this.locks.close();
	}

	/**
	 * Run a server while others use it.
	 * @param args the class of the server, its name, the directory and the ids of other
	 * processes that keep the server alive
	 */
	public static void main(String[] args) {
		try {
			Enum<?> server = Stream.of(Class.forName(args[0]).getEnumConstants())
				.map((constant) -> (Enum<?>) constant)
				.filter((constant) -> constant.name().equals(args[1]))
				.findFirst()
				.orElseThrow();
			List<ProcessHandle> others = Stream.of(args)
				.skip(3)
				.flatMap((pid) -> ProcessHandle.of(Long.parseLong(pid)).stream())
				.toList();
			new ServerHost(server, Path.of(args[2])).publish((String) ((Supplier<?>) server).get(), others);
		}
		catch (Throwable ex) {
			ex.printStackTrace();
		}
		// Libraries may have left threads behind
		System.exit(0);
	}

	private void publish(String started, List<ProcessHandle> others) throws Exception {
		// If the user that launched this host crashed, the next one may have another
		if (this.locks.tryLock(0, 1, false) != null) {
			byte[] process = Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII);
			this.locks.truncate(0).write(ByteBuffer.wrap(process));
			Path incomplete = Files.createTempFile(this.file.getParent(), "incomplete", "");
			Files.move(Files.writeString(incomplete, started), this.file, StandardCopyOption.ATOMIC_MOVE);
			System.out.close();
			while (!others.stream().allMatch(ServerProcess::hasEnded)) {
				TimeUnit.MILLISECONDS.sleep(200);
			}
			// Waits for the last user
			this.locks.lock(1, 1, false);
			if (!others.isEmpty()) {
				// Nobody looks for a server here after them
				this.files.forEach((path) -> path.toFile().delete());
			}
		}
	}

}
