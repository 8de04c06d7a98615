// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.time.Duration;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.testsupport.EmbeddedMariaDb;
import io.github.lockstarter.testsupport.ServerPort;

/**
 * The server of a {@link LedgerDatabase}.
 *
 * @param url its address, or {@code null} if it is the one that keeps the locks
 * @param end stops it
 */
record LedgerServer(@Nullable String url, AutoCloseable end) implements AutoCloseable {

	static LedgerServer start(LedgerDatabase database) throws Exception {
		return switch (database) {
			case POSTGRESQL -> {
				EmbeddedPostgres server = EmbeddedPostgres.builder()
					.setPort(ServerPort.find())
					.setPGStartupWait(Duration.ofMinutes(3))
					.start();
				yield new LedgerServer(server.getJdbcUrl("postgres", "postgres"), server);
			}
			case MARIADB -> {
				EmbeddedMariaDb server = EmbeddedMariaDb.start(100);
				yield new LedgerServer("jdbc:mariadb://127.0.0.1:" + server.port() + "/test?user=root", server::stop);
			}
			case OF_LOCKS -> new LedgerServer(null, () -> {
			});
		};
	}

	@Override
	public void close() throws Exception {
		this.end.close();
	}

}
