// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.lockstarter.servers.ServerPort;
import io.github.lockstarter.servers.ServerProcess;

/**
 * An instance of the shop in a separate JVM.
 */
public final class ShopProcess implements AutoCloseable {

	private final ServerProcess process;

	private final Path log;

	private final int port;

	private ShopProcess(List<String> command, Path directory, String... arguments) {
		this.port = ServerPort.find();
		List<String> complete = new ArrayList<>(command);
		complete.addAll(List.of("--server.port=" + this.port, "--shop.directory=" + directory.toAbsolutePath()));
		// A sale that is sent while the shop closes its idle connection fails
		complete.add("--server.tomcat.keep-alive-timeout=-1");
		complete.addAll(List.of(arguments));
		Path own = ServerProcess.newDirectory("shop");
		this.process = ServerProcess.start(complete, Map.of(), own);
		this.log = own.resolve("log");
	}

	/**
	 * Start the classes under test.
	 */
	public static ShopProcess start(Path directory, String... arguments) {
		return new ShopProcess(ServerProcess.java(List.of("-Xmx512m"), StockApplication.class.getName()), directory,
				arguments);
	}

	/**
	 * Start the packaged application.
	 */
	public static ShopProcess startJar(Path jar, Path directory, String... arguments) {
		return startJar("-Dspring.aot.enabled=false", jar, directory, arguments);
	}

	/**
	 * Start the packaged application as it was processed ahead of time.
	 */
	public static ShopProcess startProcessed(Path jar, Path directory, String... arguments) {
		return startJar("-Dspring.aot.enabled=true", jar, directory, arguments);
	}

	private static ShopProcess startJar(String option, Path jar, Path directory, String... arguments) {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		return new ShopProcess(List.of(java, "-Xmx512m", option, "-jar", jar.toAbsolutePath().toString()), directory,
				arguments);
	}

	/**
	 * Return the address of the database that the instances of a directory share.
	 */
	public static String databaseUrl(Path directory) throws IOException {
		return "jdbc:h2:file:" + directory.toRealPath().resolve("shop") + ";AUTO_SERVER=TRUE";
	}

	public ShopProcess awaitOpen() {
		this.process.await(() -> log().contains("The shop is open"));
		return this;
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
	 * Let the process do nothing until {@link #resume()}; the servers that it may have
	 * started go on.
	 */
	public void pause() {
		ServerProcess.signal("STOP", this.process.pid());
	}

	/**
	 * Let the process continue after {@link #pause()}.
	 */
	public void resume() {
		ServerProcess.signal("CONT", this.process.pid());
	}

	/**
	 * End the process like a crash, but not the servers that it may have started.
	 */
	public void kill() {
		ServerProcess.signal("KILL", this.process.pid());
		ServerProcess.await("the end of the shop", () -> !this.process.isAlive());
	}

	@Override
	public void close() {
		this.process.close();
	}

}
