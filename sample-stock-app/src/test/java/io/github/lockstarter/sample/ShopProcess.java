// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.awaitility.Awaitility;

import io.github.lockstarter.servers.ServerPort;

/**
 * An instance of the shop in a separate JVM.
 */
public final class ShopProcess implements AutoCloseable {

	/** A database server may have to be unpacked and set up first. */
	private static final Duration PATIENCE = Duration.ofMinutes(5);

	private final Process process;

	private final Path log;

	private final int port;

	private ShopProcess(Process process, Path log, int port) {
		this.process = process;
		this.log = log;
		this.port = port;
	}

	/**
	 * Start the classes under test.
	 */
	public static ShopProcess start(Path directory, String... arguments) {
		return start(directory, List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
				System.getProperty("java.class.path"), StockApplication.class.getName()), arguments);
	}

	/**
	 * Start the packaged application.
	 */
	public static ShopProcess startJar(Path jar, Path directory, String... arguments) {
		return start(directory, List.of("-Xmx512m", "-jar", jar.toString()), arguments);
	}

	/**
	 * Return the address of the database that the instances of a directory share.
	 */
	public static String databaseUrl(Path directory) throws IOException {
		return "jdbc:h2:file:" + directory.toRealPath().resolve("shop") + ";AUTO_SERVER=TRUE";
	}

	private static ShopProcess start(Path directory, List<String> application, String... arguments) {
		int port = ServerPort.find();
		List<String> command = new ArrayList<>();
		command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
		command.addAll(application);
		command.addAll(List.of("--server.port=" + port, "--shop.directory=" + directory));
		// A sale that is sent while the shop closes its idle connection fails
		command.add("--server.tomcat.keep-alive-timeout=-1");
		command.addAll(List.of(arguments));
		try {
			Path log = Files.createDirectories(directory).resolve("shop-" + port + ".log");
			Process process = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(log.toFile())
				.start();
			return new ShopProcess(process, log, port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public ShopProcess awaitOpen() {
		try {
			Awaitility.await().atMost(PATIENCE).until(() -> !this.process.isAlive() || isOpen());
		}
		finally {
			if (!isOpen()) {
				close();
			}
		}
		if (!isOpen()) {
			throw new IllegalStateException("The shop did not open:\n" + log());
		}
		return this;
	}

	private boolean isOpen() {
		return log().contains("The shop is open");
	}

	public int port() {
		return this.port;
	}

	public String log() {
		try {
			return Files.readString(this.log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * End the process like a crash.
	 */
	public void kill() {
		this.process.destroyForcibly();
		awaitExit(10);
	}

	@Override
	public void close() {
		this.process.destroy();
		if (!awaitExit(20)) {
			kill();
		}
	}

	public static void closeAll(ShopProcess... shops) {
		Stream.of(shops).forEach((shop) -> shop.process.destroy());
		Stream.of(shops).forEach(ShopProcess::close);
	}

	private boolean awaitExit(long seconds) {
		try {
			return this.process.waitFor(seconds, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			this.process.destroyForcibly();
			throw new IllegalStateException(ex);
		}
	}

}
