// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class FaultTests {

	@ParameterizedTest
	@EnumSource
	void faultsOfASiteAreToldApartByNameAndTitle(SiteKind kind) {
		List<Fault> faults = Fault.at(kind);
		assertThat(faults).isNotEmpty();
		assertThat(faults).extracting(Fault::name).doesNotHaveDuplicates();
		assertThat(faults).extracting(Fault::title).doesNotHaveDuplicates();
	}

}
