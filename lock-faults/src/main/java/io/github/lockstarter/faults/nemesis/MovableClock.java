// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.springframework.util.FileSystemUtils;

import io.github.lockstarter.servers.ServerProcess;

/**
 * The wall clock of a server, which can be set while the server runs. It needs a C
 * compiler and a dynamically linked server; Redis is that of the Debian packages.
 */
final class MovableClock implements AutoCloseable {

	private static final Path COMPILER = Path.of("/usr/bin/cc");

	/** The same executable as the server, under another name. */
	private static final Path REDIS = Path.of("/usr/bin/redis-check-rdb");

	private final Path directory;

	private final MappedByteBuffer offset;

	MovableClock() {
		try {
			this.directory = Files.createTempDirectory("clock");
			this.offset = map(this.directory.resolve("offset"));
			Files.createSymbolicLink(redis(), REDIS);
			compile();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static boolean isAvailable() {
		return Files.isExecutable(COMPILER);
	}

	static boolean isAvailableForRedis() {
		return isAvailable() && Files.isExecutable(REDIS);
	}

	Path redis() {
		return this.directory.resolve("redis-server");
	}

	/**
	 * Return the environment that makes a server use this clock.
	 */
	Map<String, String> environment() {
		return Map.of("LD_PRELOAD", library().toString(), "CLOCK_OFFSET", this.directory.resolve("offset").toString());
	}

	/**
	 * Set the clock.
	 * @param duration how far to set the clock forward, or back if negative
	 */
	void move(Duration duration) {
		this.offset.putLong(0, this.offset.getLong(0) + duration.toNanos() / 1000);
	}

	private Path library() {
		return this.directory.resolve("clock.so");
	}

	private void compile() throws IOException {
		Path source = this.directory.resolve("moved-clock.c");
		try (InputStream code = MovableClock.class.getResourceAsStream("moved-clock.c")) {
			Files.copy(code, source);
		}
		ServerProcess.run(
				List.of(COMPILER.toString(), "-shared", "-fPIC", "-o", library().toString(), source.toString()),
				new byte[0], this.directory.resolve("log"));
	}

	private static MappedByteBuffer map(Path file) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			MappedByteBuffer content = channel.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES);
			content.order(ByteOrder.nativeOrder());
			return content;
		}
	}

	@Override
	public void close() {
		FileSystemUtils.deleteRecursively(this.directory.toFile());
	}

}
