// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Properties;

import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

/**
 * The JVM in which the servers of a profile run. It outlives the instance that has
 * started it, and ends when no instance uses the servers any more, even if the last one
 * crashed.
 */
final class ServerHost {

	private final StoreProfile profile;

	private final SharedDirectory directory;

	private ServerHost(StoreProfile profile, SharedDirectory directory) {
		this.profile = profile;
		this.directory = directory;
	}

	/**
	 * Run the servers of a profile.
	 * @param args the constant of the profile, and the shared directory
	 */
	public static void main(String[] args) throws Exception {
		LoggingSystem.get(ServerHost.class.getClassLoader()).setLogLevel(LoggingSystem.ROOT_LOGGER_NAME, LogLevel.INFO);
		new ServerHost(StoreProfile.valueOf(args[0]), new SharedDirectory(Path.of(args[1]))).run();
		// Libraries may have left threads behind
		System.exit(0);
	}

	private void run() throws Exception {
		HostFiles files = new HostFiles(this.profile, this.directory);
		try (FileChannel users = files.users(); FileChannel host = files.host()) {
			host.lock();
			StoreProfile.Servers servers = this.profile.start(this.directory);
			try (AutoCloseable stop = servers.stop()) {
				publish(servers, files.properties());
				users.lock();
				Files.delete(files.properties());
			}
		}
	}

	private static void publish(StoreProfile.Servers servers, Path file) throws Exception {
		Properties properties = new Properties();
		properties.putAll(servers.properties());
		Path incomplete = file.resolveSibling(file.getFileName() + ".new");
		try (OutputStream out = Files.newOutputStream(incomplete)) {
			properties.store(out, null);
		}
		Files.move(incomplete, file, StandardCopyOption.ATOMIC_MOVE);
	}

}
