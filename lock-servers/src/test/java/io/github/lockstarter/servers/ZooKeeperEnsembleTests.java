// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An ensemble, whose members fail one after the other.
 */
@Tag("full")
class ZooKeeperEnsembleTests {

	@Test
	void theMajorityElectsAnotherLeader() {
		try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start()) {
			ZooKeeperServer first = ensemble.leader();
			ensemble.isolate(first);
			ServerProcess.await("The end of the service", () -> !first.isServing());
			ZooKeeperServer second = ensemble.leader();
			assertThat(second).isNotSameAs(first);
			ensemble.heal();
			second = ensemble.leader();
			second.kill();
			assertThat(ensemble.leader()).isNotSameAs(second);
			second.restart();
			ensemble.awaitComplete();
			assertThat(ensemble.members()).allMatch(ZooKeeperServer::isServing);
			assertThat(ensemble.followers()).hasSize(2);
		}
	}

}
