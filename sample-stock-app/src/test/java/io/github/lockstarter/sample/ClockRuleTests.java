// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import io.github.lockstarter.testsupport.AbstractClockRuleTests;

class ClockRuleTests extends AbstractClockRuleTests {

}
