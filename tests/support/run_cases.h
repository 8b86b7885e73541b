#pragma once

/// Runs the cases that match `which`, for a program with its own main function. Returns the number
/// of failed assertions.
int run_cases(const char* program, const char* which);
