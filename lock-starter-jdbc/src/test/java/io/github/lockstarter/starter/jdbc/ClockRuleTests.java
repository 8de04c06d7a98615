// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.jdbc;

import io.github.lockstarter.testsupport.AbstractClockRuleTests;

class ClockRuleTests extends AbstractClockRuleTests {

}
