// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.io.IOException;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Who may use an instance of the lab, which sells and crashes on demand: who asks for it
 * by its address, as the lab does. Another name that leads here is that of a page in a
 * browser of this computer.
 */
@Component
@Profile(Instances.PROFILE)
class InstanceAccess extends OncePerRequestFilter {

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		if (LabAccess.LOOPBACK.contains(request.getServerName())) {
			chain.doFilter(request, response);
		}
		else {
			response.sendError(HttpStatus.FORBIDDEN.value());
		}
	}

}
