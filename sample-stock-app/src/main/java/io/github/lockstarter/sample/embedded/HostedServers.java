// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.util.ClassUtils;

/**
 * The servers of a profile, from the view of an instance: the first instance starts a
 * {@link ServerHost} for them, further ones join.
 */
class HostedServers implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(HostedServers.class);

	private static final String LAUNCHER_OF_JAR = "org.springframework.boot.loader.launch.PropertiesLauncher";

	private static final long POLL_MILLIS = 20;

	private static final long START_NANOS = TimeUnit.MINUTES.toNanos(4);

	private final StoreProfile profile;

	private final SharedDirectory directory;

	private final HostFiles files;

	private final FileChannel users;

	private final Properties properties;

	HostedServers(StoreProfile profile, SharedDirectory directory) throws IOException, InterruptedException {
		this.profile = profile;
		this.directory = directory;
		this.files = new HostFiles(profile, directory);
		this.users = this.files.users();
		this.properties = join();
	}

	/**
	 * Return the properties with the addresses of the servers.
	 */
	Properties properties() {
		return this.properties;
	}

	private Properties join() throws IOException, InterruptedException {
		try (FileChannel start = this.directory.open("start.lock")) {
			start.lock();
			// Waits for a host that stops its servers
			this.users.lock(0, Long.MAX_VALUE, true);
			boolean running = isRunning();
			if (!running) {
				start();
			}
			logger.info((running ? "Joined" : "Started") + " the servers of the profile " + this.profile.profile());
			return PropertiesLoaderUtils.loadProperties(new FileSystemResource(this.files.properties()));
		}
	}

	private boolean isRunning() throws IOException {
		try (FileChannel host = this.files.host()) {
			return host.tryLock() == null;
		}
	}

	private void start() throws IOException, InterruptedException {
		Path published = this.files.properties();
		Files.deleteIfExists(published);
		File log = this.files.log().toFile();
		Process host = new ProcessBuilder(command()).redirectErrorStream(true).redirectOutput(log).start();
		for (long deadline = System.nanoTime() + START_NANOS; Files.notExists(published);) {
			if (host.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS) || System.nanoTime() > deadline) {
				host.destroy();
				throw new IOException("The servers of the profile %s did not start:%n%s"
					.formatted(this.profile.profile(), Files.readString(this.files.log())));
			}
		}
	}

	/**
	 * The shell lets the host ignore Ctrl+C in the terminal of the first instance.
	 */
	private List<String> command() {
		List<String> command = new ArrayList<>(List.of("sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh",
				Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
				"-XX:TieredStopAtLevel=1"));
		List<String> application = ClassUtils.isPresent(LAUNCHER_OF_JAR, ClassLoader.getSystemClassLoader())
				? List.of("-Dloader.main=" + ServerHost.class.getName(), "-cp", classPath(), LAUNCHER_OF_JAR)
				: List.of("-cp", classPath(), ServerHost.class.getName());
		command.addAll(application);
		command.addAll(List.of(this.profile.name(), this.directory.resolve("").toString()));
		return command;
	}

	private static String classPath() {
		return System.getProperty("java.class.path");
	}

	/**
	 * Leave the servers, which end when no instance uses them.
	 */
	@Override
	public void close() throws IOException {
		this.users.close();
	}

}
